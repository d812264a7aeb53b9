import { unwrap } from '../../core/pipeline.js';
import { type PlanState, TERMINAL_PHASES } from '../../core/plan/model.js';
import type { PlanFilter, PlanLogEntry, PlanStep, PlanStepAnswer, PlanStore } from '../../ports/plans.js';
import type { RedisContext } from './context.js';
import { blobArgs, PIECE, putWhole, withPieces } from './pieces.js';

/** How long staged results wait for their step, which then has them live as long as the plan does. */
const STAGED_MS = 3_600_000;
/** Plans looked at in one go when they are listed. */
const PAGE = 200;

type Arg = string | number;

const commandArgs = ({ command }: PlanStep): Arg[] => [command?.id ?? '', command?.digest ?? ''];

const decisionArgs = ({ decision }: PlanStep): Arg[] => [
  decision?.chunk ?? '',
  decision?.json ?? '',
  decision?.results?.stage ?? '',
];

function nextArgs({ next }: PlanStep): Arg[] {
  if (next === null) return ['', '', '', '', '', '', '', ''];
  const { state, log } = next;
  const ended = TERMINAL_PHASES.has(state.phase);
  return [
    JSON.stringify(state),
    state.revision,
    JSON.stringify(log),
    state.phase,
    state.project ?? '',
    state.createdAt,
    ended ? '' : (state.deadline ?? ''),
    ended ? '1' : '',
  ];
}

function acceptArgs({ accept, now, retentionMs }: PlanStep): Arg[] {
  if (accept === null) return ['', '', '', ''];
  const { chunk, checkAt } = accept;
  const lease = Math.max(1, chunk.deadline - now + retentionMs);
  return [chunk.id, JSON.stringify(chunk), checkAt, lease];
}

/** Whether a plan in this phase and project is asked for. */
const passes = (plan: { phase: string; project: string | null }, { phase, project }: PlanFilter): boolean =>
  (phase === undefined || phase === plan.phase) && (project === undefined || project === plan.project);

/** Plans in Redis: a hash with the state and the commands, its history and evaluations beside it. */
export class RedisPlans implements PlanStore {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  #key(kind: string, id: string): string {
    return `${this.#context.prefix}${kind}:${id}`;
  }

  async plan(id: string): Promise<PlanState | undefined> {
    return (await this.#states([id]))[0];
  }

  async command(plan: string, id: string): Promise<{ revision: number; digest: string } | undefined> {
    const mark = await this.#context.client.hget(this.#key('plan', plan), `c:${id}`);
    if (mark === null) return undefined;
    const at = mark.indexOf(':');
    return { revision: Number(mark.slice(0, at)), digest: mark.slice(at + 1) };
  }

  async log(plan: string): Promise<PlanLogEntry[]> {
    const lines = await this.#context.client.lrange(this.#key('plan-log', plan), 0, -1);
    return lines.map((line) => JSON.parse(line) as PlanLogEntry);
  }

  async plans(filter: PlanFilter): Promise<PlanState[]> {
    const { client, prefix } = this.#context;
    const found = new Map<string, PlanState>();
    for (let from = 0; found.size < filter.limit; from += PAGE) {
      const ids = await client.zrevrange(`${prefix}plans`, from, from + PAGE - 1);
      if (ids.length === 0) break;
      const states = await this.#states(await this.#matching(ids, filter));
      // It may have moved in between.
      for (const state of states) if (passes(state, filter)) found.set(state.id, state);
    }
    return [...found.values()].slice(0, filter.limit);
  }

  /** Those of the plans that are still there and pass the filter. */
  async #matching(ids: readonly string[], filter: PlanFilter): Promise<string[]> {
    const reads = this.#context.client.pipeline();
    for (const id of ids) reads.hmget(this.#key('plan', id), 'phase', 'project');
    const marks = unwrap(await reads.exec()) as [string | null, string | null][];
    return ids.filter((_, i) => {
      const [inPhase, inProject] = marks[i] ?? [null, null];
      return inPhase !== null && passes({ phase: inPhase, project: inProject }, filter);
    });
  }

  /** States of those that are there. */
  async #states(ids: readonly string[]): Promise<PlanState[]> {
    const reads = this.#context.client.pipeline();
    for (const id of ids) reads.hget(this.#key('plan', id), 's');
    const found = unwrap(await reads.exec()) as (string | null)[];
    return found.flatMap((json) => (json === null ? [] : (JSON.parse(json) as PlanState)));
  }

  async due(now: number, limit: number): Promise<string[]> {
    const { client, prefix } = this.#context;
    return client.zrangebyscore(`${prefix}plans:due`, '-inf', now, 'LIMIT', 0, limit);
  }

  async step(step: PlanStep): Promise<PlanStepAnswer> {
    const { scripts, prefix, outboxCap } = this.#context;
    const { accept, events } = step;
    const blobs = accept?.blobs ?? [];
    const lease = accept === null ? 1 : accept.chunk.deadline - step.now + step.retentionMs;
    const args: Arg[] = [
      step.plan,
      step.expected,
      ...commandArgs(step),
      ...decisionArgs(step),
      ...nextArgs(step),
      ...acceptArgs(step),
      step.retentionMs,
      outboxCap,
      events.length,
      blobs.length,
      step.before === undefined ? (step.registry ?? '') : `<${step.before}`,
      ...events.map((event) => event.json),
      ...blobArgs(blobs),
    ];
    const run = async () => {
      const staged = this.#stage(step);
      // A short one is there before the script runs, which is sent behind it.
      if ((step.decision?.results?.json.length ?? 0) > PIECE) await staged;
      const stepped = scripts['step-plan'](prefix, ...args) as Promise<string[]>;
      stepped.catch(() => {});
      await staged;
      return stepped;
    };
    return answerOf(await withPieces(this.#context, blobs, lease, run, ([word]) => word === 'missing'));
  }

  async #stage({ decision }: PlanStep): Promise<void> {
    if (decision?.results == null) return;
    const { stage, json } = decision.results;
    const key = this.#key('rs', `${decision.chunk}:${stage}`);
    await putWhole(this.#context, key, json, STAGED_MS);
  }
}

function answerOf([word, first, second]: (string | null)[]): PlanStepAnswer {
  switch (word) {
    case 'done':
      return { done: true };
    case 'repeated':
      return { done: false, reason: 'repeated', revision: Number(first), digest: second ?? '' };
    case 'stale':
      return { done: false, reason: 'stale', state: first ? (JSON.parse(first) as PlanState) : undefined };
    default:
      return { done: false, reason: word as 'decided' | 'outbox_full' };
  }
}
