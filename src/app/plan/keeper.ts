import { setTimeout as delay } from 'node:timers/promises';
import type { EventOptions } from '../../core/evaluation-events.js';
import type { OutboxEvent } from '../../core/events.js';
import type { Chunk } from '../../core/manifest.js';
import { planPacks } from '../../core/packing.js';
import { planAcceptedEvent, planDecisionEvents, planEvent } from '../../core/plan/events.js';
import { checkPlacesOf, planChunk } from '../../core/plan/manifest.js';
import type {
  Applicable,
  PlanCommand,
  PlanDecision,
  PlanEffect,
  PlanRefusal,
  PlanState,
} from '../../core/plan/model.js';
import { transition } from '../../core/plan/transition.js';
import { SluiceError } from '../../core/problem.js';
import type { Clock } from '../../ports/clock.js';
import type { CommandMark, PlanDecisionToCommit, PlanStep } from '../../ports/plans.js';
import type { WorkQueue } from '../../ports/queue.js';
import type { Blob, Store } from '../../ports/store.js';
import type { RegistryService } from '../registry/service.js';
import { logOf } from './history.js';

export interface KeeperDeps {
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  registry: RegistryService;
  fleet: string;
  events: EventOptions;
  /** Milliseconds after which an accepted evaluation is looked at by the sweeper. */
  checkAfterMs: number;
  /** Milliseconds that evidence is kept whose plan is gone. */
  retentionMs: number;
}

type Snapshots = Record<string, string>;

/** One input to a plan, on its way through load, decide and save. */
export interface Move {
  plan: string;
  mark: CommandMark | null;
  /** What the plan is made of when it does not exist yet. */
  resources: readonly string[];
  project: string | null;
  /** Evidence by digest that comes with the command, and which resource it is of. */
  evidence: { blobs: readonly Blob[]; snapshots: Snapshots | null };
  /** A decision to be written with the transition, or alone when the plan no longer waits for it. */
  decision: {
    toCommit: PlanDecisionToCommit;
    events: readonly OutboxEvent[];
    causation: string;
    /** Who asked for the evaluation, and for what follows from it; absent: not known. */
    actor?: string | undefined;
  } | null;
  /** The input, made anew whenever another came first; may throw. */
  command(state: PlanState | undefined, applicable: Applicable, now: number): PlanCommand;
}

export type Moved =
  | { kind: 'moved' | 'repeated'; state: PlanState; row: string; applicable: Applicable }
  | { kind: 'refused'; refusal: PlanRefusal; state: PlanState | undefined }
  /** The command was taken with other content. */
  | { kind: 'conflict'; state: PlanState | undefined };

const OUTBOX_FULL_WAIT_MS = 200;
const OUTBOX_FULL_PATIENCE_MS = 60_000;

const emits = (effect: PlanEffect): effect is Extract<PlanEffect, { type: 'emit' }> => effect.type === 'emit';
const evaluates = (effect: PlanEffect): effect is Extract<PlanEffect, { type: 'evaluate' }> =>
  effect.type === 'evaluate';

/** Enqueues an accepted evaluation of a plan: one job for each attachment (DESIGN 5.2). */
export async function enqueuePlan(queue: WorkQueue, chunk: Chunk, generation: number): Promise<void> {
  if (chunk.plan === undefined) throw new Error(`chunk ${chunk.id} evaluates no plan`);
  await queue.enqueue(chunk, generation, planPacks([checkPlacesOf(chunk.plan)], 'off'));
}

/** Load, decide, save with effects in one atomic step, enqueue: for every input of every plan. */
export class PlanKeeper {
  readonly #deps: KeeperDeps;

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
  }

  async move(move: Move): Promise<Moved> {
    const { store, clock } = this.#deps;
    const givenUpAt = clock.now() + OUTBOX_FULL_PATIENCE_MS;
    for (;;) {
      const state = await store.plans.plan(move.plan);
      const earlier = await this.#taken(move, state);
      if (earlier !== undefined) return earlier;
      const applicable = await this.#applicable(move, state);
      const now = clock.now();
      const command = move.command(state, applicable, now);
      const next = transition(state, command);
      if (!next.ok) {
        if (move.decision !== null) await this.#decideAlone(move.plan, move.decision, now);
        return { kind: 'refused', refusal: next.refusal, state };
      }
      const asker = move.decision === null ? command.actor : move.decision.actor;
      const chunks = next.effects
        .filter(evaluates)
        .map((effect) => planChunk(next.state, effect, now, asker));
      const step = await this.#stepOf(move, state, command, next, chunks, applicable, now);
      const answer = await store.plans.step(step);
      if (answer.done) {
        for (const chunk of chunks) await enqueuePlan(this.#deps.queue, chunk, 1);
        return { kind: 'moved', state: next.state, row: next.row, applicable };
      }
      if (answer.reason === 'repeated') {
        const stands = (await store.plans.plan(move.plan)) ?? next.state;
        // Its first answer may have been lost with the process, or on the way: then nobody enqueued.
        if (answer.revision === stands.revision) await this.#enqueueAwaited(stands);
        return answer.digest === move.mark?.digest
          ? { kind: 'repeated', state: stands, row: next.row, applicable }
          : { kind: 'conflict', state: stands };
      }
      if (answer.reason === 'decided') {
        const stands = (await store.plans.plan(move.plan)) ?? next.state;
        return { kind: 'repeated', state: stands, row: next.row, applicable };
      }
      if (answer.reason === 'outbox_full') {
        if (clock.now() > givenUpAt)
          throw new SluiceError('IO', 'The outbox is full: no sink takes its events; nothing was accepted.');
        await delay(OUTBOX_FULL_WAIT_MS);
      }
    }
  }

  /** What the plan took before it takes no second time, nor does it refuse it by its present state. */
  async #taken(move: Move, state: PlanState | undefined): Promise<Moved | undefined> {
    if (move.mark === null || state === undefined) return undefined;
    const { store } = this.#deps;
    const mark = await store.plans.command(move.plan, move.mark.id);
    if (mark === undefined) return undefined;
    // It may have been taken after the plan was read.
    const stands = mark.revision > state.revision ? await store.plans.plan(move.plan) : state;
    if (stands === undefined) return undefined;
    if (mark.digest !== move.mark.digest) return { kind: 'conflict', state: stands };
    return {
      kind: 'repeated',
      state: stands,
      row: 'repeated',
      applicable: await this.#applicable(move, stands),
    };
  }

  /** The evaluation that the plan waits for, as it was accepted. */
  async #enqueueAwaited({ awaits }: PlanState): Promise<void> {
    const { store, queue } = this.#deps;
    const record = awaits === null ? undefined : await store.evaluations.chunk(awaits.evaluation);
    if (record !== undefined) await enqueuePlan(queue, record.chunk, record.generation);
  }

  #applicable(
    move: Move,
    state: PlanState | undefined,
  ): Promise<Applicable & { tools: Map<string, string>; registry: number }> {
    const where = {
      resources: state?.resources ?? move.resources,
      project: state === undefined ? move.project : state.project,
      plan: move.plan,
    };
    return this.#deps.registry.applicable(where, move.evidence.snapshots ?? state?.snapshots ?? null);
  }

  async #decideAlone(plan: string, decision: NonNullable<Move['decision']>, now: number): Promise<void> {
    const { store, retentionMs } = this.#deps;
    for (;;) {
      const answer = await store.plans.step({
        plan,
        expected: (await store.plans.plan(plan))?.revision ?? 0,
        now,
        command: null,
        next: null,
        decision: decision.toCommit,
        accept: null,
        events: decision.events,
        retentionMs,
      });
      if (answer.done || answer.reason !== 'stale') return;
    }
  }

  async #stepOf(
    move: Move,
    before: PlanState | undefined,
    command: PlanCommand,
    next: { state: PlanState; effects: PlanEffect[]; row: string },
    chunks: readonly Chunk[],
    { tools, registry }: { tools: ReadonlyMap<string, string>; registry: number },
    now: number,
  ): Promise<PlanStep> {
    const { fleet, checkAfterMs } = this.#deps;
    const cancelled = await this.#cancelled(next.effects, now);
    const [chunk] = chunks;
    return {
      plan: move.plan,
      expected: before?.revision ?? 0,
      now,
      // What applies must be what applied when it was looked up: Apply is the point of no return.
      registry: next.state.phase === 'applied' ? registry : undefined,
      command: move.mark,
      next: { state: next.state, log: logOf(before, command, next, chunk) },
      decision: move.decision?.toCommit ?? cancelled?.toCommit ?? null,
      accept:
        chunk === undefined
          ? null
          : {
              chunk,
              blobs: await this.#blobs(chunk, move.evidence.blobs, tools),
              checkAt: now + checkAfterMs,
            },
      events: [
        ...(move.decision?.events ?? []),
        ...(cancelled?.events ?? []),
        ...next.effects
          .filter(emits)
          .map((effect) => planEvent(fleet, next.state, effect, now, move.decision?.causation)),
        ...chunks.map((each) => planAcceptedEvent(fleet, each)),
      ],
      retentionMs: next.state.policy.retention,
    };
  }

  /** A running evaluation of a plan that is cancelled is decided with it (DESIGN 4.7). */
  async #cancelled(
    effects: readonly PlanEffect[],
    now: number,
  ): Promise<{ toCommit: PlanDecisionToCommit; events: OutboxEvent[] } | undefined> {
    const effect = effects.find((each) => each.type === 'cancel');
    if (effect === undefined || effect.type !== 'cancel') return undefined;
    const chunk = (await this.#deps.store.evaluations.chunk(effect.evaluation))?.chunk;
    if (chunk?.plan === undefined) return undefined;
    const decision: PlanDecision = {
      plan: chunk.plan.plan,
      stage: chunk.plan.stage,
      passed: false,
      status: 'cancelled',
      actor: chunk.actor ?? null,
      gate: { passed: false, reason: 'the plan was cancelled' },
      counts: { passed: 0, failed: 0, errored: 0, skipped: 0, vacuous: 0, advisories: 0 },
      vacuous: false,
      unvalidated: chunk.plan.unvalidated,
      resultsDigest: '',
      decidedAt: now,
    };
    return {
      toCommit: { chunk: chunk.id, json: JSON.stringify(decision), results: null },
      events: planDecisionEvents(this.#deps.fleet, chunk, decision, [], this.#deps.events),
    };
  }

  /** Snapshots and tools that an evaluation needs; what is stored already gets a new lease. */
  async #blobs(chunk: Chunk, given: readonly Blob[], tools: ReadonlyMap<string, string>): Promise<Blob[]> {
    const contents = new Map(given.map(({ digest, content }) => [digest, content]));
    for (const [digest, json] of tools) contents.set(digest, json);
    const checks = [...(chunk.plan?.checks ?? []), ...(chunk.plan?.rest ?? [])];
    const wanted = [...new Set(checks.flatMap(({ version, subject }) => [version, subject]))];
    for (const { digest } of given) if (!wanted.includes(digest)) wanted.push(digest);
    const missing = wanted.filter((digest) => !contents.has(digest));
    const stored = await this.#deps.store.evaluations.blobs(missing);
    missing.forEach((digest, i) => {
      const content = stored[i];
      if (content !== undefined) contents.set(digest, content);
    });
    return wanted.flatMap((digest) => {
      const content = contents.get(digest);
      return content === undefined ? [] : [{ digest, content }];
    });
  }
}
