import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type CloudEventIn, decodeMessage } from '../../core/cloud-events.js';
import type { Command } from '../../core/commands/command.js';
import { clipped } from '../../core/plan/fit.js';
import { SluiceError } from '../../core/problem.js';
import { redact } from '../../core/redact.js';
import type { Clock } from '../../ports/clock.js';
import type { DeadLetter } from '../../ports/dead-letters.js';
import type { Meter } from '../../ports/meter.js';
import type { ReferenceReader } from '../../ports/references.js';
import type { IncomingMessage, Taken } from '../../ports/source.js';
import type { Store } from '../../ports/store.js';
import type { Tracer } from '../../ports/tracer.js';
import { reasonOf } from '../outage.js';
import type { PlanService } from '../plan/service.js';
import type { EvaluationIntake } from './evaluations.js';
import { commandIdOf, planIdOf, planRequestOf } from './plan-requests.js';
import { keyOf, readCommand } from './reading.js';
import type { CommandOutcome } from './requests.js';
import {
  messageOf,
  type Part,
  partOf,
  type Refusal,
  refusalBy,
  refusalOf,
  type SourceIdentity,
  setAside,
} from './set-aside.js';
import { kindOf } from './trouble.js';
import { Turns } from './turns.js';

export type { SourceIdentity } from './set-aside.js';

export interface IntakeDeps {
  store: Pick<Store, 'letters'>;
  clock: Clock;
  fleet: string;
  evaluations: Pick<EvaluationIntake, 'submit'>;
  plans: Pick<PlanService, 'run'>;
  references: ReferenceReader;
  /** Bytes of a message. */
  maxBytes: number;
  /** Milliseconds that a bus waits for an answer; default 15,000. What takes longer is answered when it comes again. */
  patienceMs?: number;
  /**
   * Tries of a command that its plan refuses; default 1. Where several servers share a source, the one
   * before it may be in the hands of another.
   */
  refusedTries?: number;
  /** Told of each message or event that is set aside. */
  onSetAside?(letter: DeadLetter): void;
  /** Counts what becomes of commands. */
  meter?: Meter | undefined;
  /** Goes on with the traces that commands bring. */
  tracer?: Tracer | undefined;
  /** Told of errors that were not expected. */
  onError?(error: Error): void;
}

const PATIENCE_MS = 15_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/**
 * Tries after which an error that was not expected, or evidence whose host is away, makes a dead letter:
 * about two minutes. On some buses what is put off takes a place in hand, and would hold up all others.
 */
const MOST_TRIES = 10;
/** Events of a batch that are taken at a time. */
const AT_A_TIME = 16;
/** What a plan answers to a command that comes before another that it needs. */
const EARLY: ReadonlySet<string> = new Set(['NOT_FOUND', 'PLAN_REFUSED']);
/** Messages whose tries are counted. */
const COUNTED = 10_000;
const MOST_REASON = 500;

/** What became of one event: done with, or an error after which it is to come again. */
type Met = { error: unknown } | undefined;

/** Takes commands, from buses and from whoever posts them. */
export class Intake {
  readonly #deps: IntakeDeps;
  readonly #turns: Turns;
  readonly #tries = new LRUCache<string, number>({ max: COUNTED });
  readonly #inHand = new Map<string, Promise<Taken>>();

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.#turns = new Turns(deps.clock);
  }

  /**
   * Takes a command: once, however often the same source and id come. Throws what refuses it (INVALID_*,
   * BAD_REFERENCE, PLAN_REFUSED, NOT_FOUND, COMMAND_CONFLICT, IDEMPOTENCY_CONFLICT), or why it cannot be
   * taken now (UNAVAILABLE, and what Redis says).
   */
  async take(command: Command, actor: string): Promise<CommandOutcome> {
    const { evaluations, plans, references, meter } = this.#deps;
    const { id, type } = command;
    if (command.name === 'evaluation.requested') {
      const { data, source: origin, correlation } = command;
      const answer = await evaluations.submit({
        origin,
        key: id,
        actor,
        ...(correlation === undefined ? {} : { correlation }),
        scenario:
          data.scenario_ref === undefined ? { inline: data.scenario } : { reference: data.scenario_ref },
        run: data.run_ref === undefined ? { inline: data.run } : { reference: data.run_ref },
        ...(data.files === undefined ? {} : { files: data.files }),
        ...(data.strict === undefined ? {} : { strict: data.strict }),
        ...(data.from === undefined ? {} : { from: data.from }),
      });
      meter?.command(answer.repeated ? 'duplicate' : 'accepted');
      return { id, type, outcome: answer.repeated ? 'repeated' : 'accepted', evaluation: answer.evaluation };
    }
    const { plan, repeated } = await plans.run(await planRequestOf(command, actor, references));
    const { id: name, phase, revision } = plan;
    const outcome = repeated ? 'repeated' : 'accepted';
    meter?.command(repeated ? 'duplicate' : 'accepted');
    return { id, type, outcome, plan: { id: name, phase, revision } };
  }

  /**
   * Takes a message of a bus. `done` means that Redis has written it: accepted, or set aside as a dead
   * letter because it never can be. How safe that is, is for the operator to choose: with `appendfsync
   * always` nothing that was acknowledged is lost in a crash of Redis, with everysec up to two seconds are
   * (`redis_durability: always` refuses a Redis that promises less). Trouble with what Sluice itself
   * works with is answered `later`, and never makes a dead letter. Does not throw.
   */
  async handle(message: IncomingMessage, source: SourceIdentity): Promise<Taken> {
    const key = keyOf(message, source);
    let work = this.#inHand.get(key);
    if (work === undefined) {
      work = this.#takeMessage(message, source, key).finally(() => this.#inHand.delete(key));
      this.#inHand.set(key, work);
    }
    const patience = new AbortController();
    const late = delay(this.#deps.patienceMs ?? PATIENCE_MS, undefined, { signal: patience.signal }).then(
      () => this.#later(key, 'it takes longer than it may'),
      () => new Promise<never>(() => {}),
    );
    try {
      return await Promise.race([work, late]);
    } finally {
      patience.abort();
    }
  }

  /** Takes again what was set aside: `done`, or why it is refused still. Throws when it cannot be taken now. */
  async retake(letter: DeadLetter): Promise<'done' | string> {
    const kept = messageOf(letter);
    if (typeof kept === 'string') return kept;
    const decoded = decodeMessage(kept.message, { maxBytes: this.#deps.maxBytes });
    if (!decoded.ok) return refusalOf(decoded.problems).reason;
    const reasons = decoded.refused.map(({ problems }) => refusalOf(problems).reason);
    for (const event of decoded.events) {
      const read = readCommand(event, kept.source);
      if ('ignored' in read) continue;
      try {
        if ('refusal' in read) reasons.push(read.refusal.reason);
        else await this.take(read.command, read.actor);
      } catch (error) {
        const kind = kindOf(error);
        if (kind === 'passing') throw error;
        if (kind === 'unexpected') this.#deps.onError?.(error as Error);
        reasons.push(refusalBy(error).reason);
      }
    }
    return reasons.length === 0 ? 'done' : reasons.join(' ');
  }

  async #takeMessage(message: IncomingMessage, source: SourceIdentity, key: string): Promise<Taken> {
    try {
      const decoded = decodeMessage(message, { maxBytes: this.#deps.maxBytes });
      if (!decoded.ok) {
        const json = Object.keys(message.attributes).length > 0 ? message.attributes : undefined;
        await this.#setAside(source, { message, json }, refusalOf(decoded.problems), key);
        this.#tries.delete(key);
        return { kind: 'done' };
      }
      const { isBatch, events, refused } = decoded;
      const part = (json: unknown): Part => (isBatch ? partOf(message, json) : { message, json });
      const met: Met[] = [];
      // Commands to one plan take their turns in the order in which they are begun.
      for (let n = 0; n < events.length; n += AT_A_TIME) {
        const some = events.slice(n, n + AT_A_TIME);
        met.push(...(await Promise.all(some.map((e) => this.#takeEvent(e, part(e.json), source, key)))));
      }
      for (const { json, problems } of refused)
        await this.#setAside(source, part(json), refusalOf(problems), key);
      const trouble = met.find((each) => each !== undefined);
      if (trouble !== undefined) return this.#later(key, trouble.error);
      this.#tries.delete(key);
      return { kind: 'done' };
    } catch (error) {
      return this.#notRead(message, source, key, error);
    }
  }

  /** Something that is not of one event went wrong; the message must not come for ever. */
  async #notRead(
    message: IncomingMessage,
    source: SourceIdentity,
    key: string,
    error: unknown,
  ): Promise<Taken> {
    if (kindOf(error) === 'unexpected') this.#deps.onError?.(error as Error);
    if (!this.#isHopeless(error, key)) return this.#later(key, error);
    try {
      await this.#setAside(source, { message, json: undefined }, refusalBy(error), key);
      this.#tries.delete(key);
      return { kind: 'done' };
    } catch (again) {
      return this.#later(key, again);
    }
  }

  /** Whether it was tried so often that it will not do. */
  #isHopeless(error: unknown, key: string): boolean {
    const tries = (this.#tries.get(key) ?? 0) + 1;
    const kind = kindOf(error);
    if (kind === 'unexpected' || kind === 'away') return tries >= MOST_TRIES;
    const isEarly = error instanceof SluiceError && EARLY.has(error.code);
    return kind === 'refusal' && (!isEarly || tries >= (this.#deps.refusedTries ?? 1));
  }

  async #takeEvent(event: CloudEventIn, part: Part, source: SourceIdentity, key: string): Promise<Met> {
    const read = readCommand(event, source);
    if ('ignored' in read) return undefined;
    if ('refusal' in read) {
      await this.#setAside(source, part, read.refusal, key);
      return undefined;
    }
    const { command, actor } = read;
    const { traceparent } = event.extensions;
    const { tracer } = this.#deps;
    const taking = () => this.take(command, actor);
    const work =
      tracer === undefined || typeof traceparent !== 'string'
        ? taking
        : () => tracer.within(traceparent, taking);
    try {
      if (command.name === 'evaluation.requested') await work();
      else await this.#turns.take(planIdOf(command), commandIdOf(command), work);
      return undefined;
    } catch (error) {
      if (kindOf(error) === 'unexpected') this.#deps.onError?.(error as Error);
      if (!this.#isHopeless(error, key)) return { error };
      await this.#setAside(source, part, refusalBy(error), key);
      if (command.name !== 'evaluation.requested')
        this.#turns.forget(planIdOf(command), commandIdOf(command));
      return undefined;
    }
  }

  async #setAside(source: SourceIdentity, part: Part, refusal: Refusal, key: string): Promise<void> {
    const { store, clock, fleet, maxBytes, onSetAside, meter } = this.#deps;
    const tries = (this.#tries.get(key) ?? 0) + 1;
    const deps = { letters: store.letters, clock, fleet, maxBytes };
    const letter = await setAside(deps, source, part, refusal, tries);
    if (letter === undefined) return;
    meter?.command('refused');
    onSetAside?.(letter);
  }

  /** Waits grow with each try of the same message. */
  #later(key: string, error: unknown): Taken {
    const tries = this.#tries.get(key) ?? 0;
    this.#tries.set(key, tries + 1);
    this.#deps.meter?.command('later');
    const afterMs = Math.min(FIRST_WAIT_MS * 2 ** tries, LONGEST_WAIT_MS);
    const reason = error instanceof Error ? reasonOf(error) : String(error);
    return { kind: 'later', afterMs, reason: clipped(redact(reason), MOST_REASON) };
  }
}
