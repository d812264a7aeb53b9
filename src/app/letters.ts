import { SluiceError } from '../core/problem.js';
import type { Clock } from '../ports/clock.js';
import type { DeadLetter, DeadLetterStore, LetterFilter } from '../ports/dead-letters.js';
import type { Roster } from '../ports/store.js';

/** Puts dead letters of sinks into the queues of their dispatchers. */
export interface LetterQueue {
  /** Has letters delivered once more, `perSecond` at most. */
  enqueue(endpoint: string, ids: readonly string[], perSecond: number): Promise<void>;
}

export interface LettersDeps {
  letters: DeadLetterStore;
  roster: Pick<Roster, 'alive'>;
  clock: Clock;
  /** Milliseconds after which a dispatcher without a sign of life counts as dead. */
  deadAfterMs: number;
  /** Asked for when the first letter of a sink is redriven. */
  queue(): Promise<LetterQueue>;
  /** Takes a letter of a source again: `done`, or why it was refused again. Throws when it cannot be tried now. */
  retake(letter: DeadLetter): Promise<'done' | string>;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface RedriveOptions {
  /** Letters a second at most. */
  perSecond: number;
  /** Milliseconds to wait for what becomes of them; undefined: as long as the rate needs, and half a minute. */
  waitMs?: number;
  signal?: AbortSignal;
}

/** A letter that could not be redriven. */
export type LetterFailure = Pick<DeadLetter, 'direction' | 'endpoint' | 'id' | 'type' | 'reason'>;

/** What a redrive really did. matched = delivered + failed + waiting. */
export interface Redriven {
  matched: number;
  /** Delivered or taken; letters no more. */
  delivered: number;
  /** Not delivered; letters still. */
  failed: number;
  /** The first thousand of them. */
  failures: LetterFailure[];
  /** Not known when the wait was over: they wait for the dispatcher of their sink. */
  waiting: number;
}

/** What is kept in memory of a letter that is redriven. */
type Ref = Pick<DeadLetter, 'direction' | 'endpoint' | 'id' | 'type' | 'redriven'>;

const PAGE = 200;
const LOOK_EVERY_MS = 100;
/** Letters that are looked for at a time. */
const LOOK = 500;
const SPARE_MS = 30_000;
const MOST_FAILURES = 1000;
export const NO_DISPATCHER = 'no dispatcher is alive to deliver it';

function byEndpoint<T extends Pick<DeadLetter, 'endpoint'>>(letters: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const letter of letters) {
    const group = groups.get(letter.endpoint);
    if (group === undefined) groups.set(letter.endpoint, [letter]);
    else group.push(letter);
  }
  return groups;
}

/** Whether a filter names nothing, so that it is of every letter. */
export const isOfAll = (filter: LetterFilter): boolean =>
  Object.values(filter).every((value) => value === undefined);

/** What operators do with dead letters. */
export class Letters {
  readonly #deps: LettersDeps;

  constructor(deps: LettersDeps) {
    this.#deps = deps;
  }

  /** A page, the oldest first; `cursor` '' for the beginning, null when there are no more. */
  list(filter: LetterFilter, cursor = '', limit = 100): ReturnType<DeadLetterStore['list']> {
    return this.#deps.letters.list(filter, cursor, limit);
  }

  /** Every letter of a filter, page by page. */
  async *all(filter: LetterFilter): AsyncGenerator<DeadLetter[]> {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await this.#deps.letters.list(filter, cursor, PAGE);
      if (page.letters.length > 0) yield page.letters;
      cursor = page.cursor;
    }
  }

  /**
   * Removes letters for good; answers how many. Throws INVALID_REQUEST for a filter that names nothing,
   * without `all`.
   */
  async drop(filter: LetterFilter, options: { all?: boolean } = {}): Promise<number> {
    this.#mustName(filter, options);
    let dropped = 0;
    for await (const letters of this.all(filter)) {
      for (const direction of ['out', 'in'] as const) {
        const own = letters.filter((letter) => letter.direction === direction);
        for (const [endpoint, group] of byEndpoint(own)) {
          const ids = group.map(({ id }) => id);
          dropped += await this.#deps.letters.remove(direction, endpoint, ids);
        }
      }
    }
    return dropped;
  }

  #mustName(filter: LetterFilter, { all }: { all?: boolean }): void {
    if (all === true || !isOfAll(filter)) return;
    throw new SluiceError(
      'INVALID_REQUEST',
      'Say which dead letters are meant: by a filter, or all of them.',
    );
  }

  /**
   * Delivers letters of sinks once more, takes those of sources again, and waits for what becomes of
   * each. Throws INVALID_REQUEST for a filter that names nothing, without `all`.
   */
  async redrive(filter: LetterFilter, options: RedriveOptions & { all?: boolean }): Promise<Redriven> {
    this.#mustName(filter, options);
    // All are found before any is tried: one that fails again becomes the newest, and would be found again.
    const found: Ref[] = [];
    for await (const page of this.all(filter)) {
      for (const { direction, endpoint, id, type, redriven } of page)
        found.push({ direction, endpoint, id, type, redriven });
    }
    const report: Redriven = { matched: found.length, delivered: 0, failed: 0, failures: [], waiting: 0 };
    const out = found.filter(({ direction }) => direction === 'out');
    const isServed = out.length > 0 && (await this.#hasDispatcher());
    if (isServed) await this.#enqueue(out, options.perSecond);
    else for (const ref of out) note(report, ref, NO_DISPATCHER);
    const spare = (out.length * 1000) / options.perSecond + SPARE_MS;
    const until = this.#deps.clock.now() + (options.waitMs ?? spare);
    await this.#retakeAll(
      found.filter(({ direction }) => direction === 'in'),
      report,
      options,
    );
    if (isServed) await this.#watch(out, report, until, options.signal);
    return report;
  }

  async #hasDispatcher(): Promise<boolean> {
    const { roster, clock, deadAfterMs } = this.#deps;
    return (await roster.alive(clock.now() - deadAfterMs)).some(({ role }) => role === 'dispatcher');
  }

  async #enqueue(refs: readonly Ref[], perSecond: number): Promise<void> {
    const queue = await this.#deps.queue();
    for (const [endpoint, group] of byEndpoint(refs)) {
      await queue.enqueue(
        endpoint,
        group.map(({ id }) => id),
        perSecond,
      );
    }
  }

  async #retakeAll(
    refs: readonly Ref[],
    report: Redriven,
    { perSecond, signal }: RedriveOptions,
  ): Promise<void> {
    for (const [n, ref] of refs.entries()) {
      if (signal?.aborted) {
        report.waiting += refs.length - n;
        return;
      }
      if (n > 0) await this.#deps.sleep(1000 / perSecond, signal);
      const answer = await this.#retake(ref);
      if (answer === 'done') report.delivered += 1;
      else note(report, ref, answer);
    }
  }

  async #retake({ endpoint, id }: Ref): Promise<'done' | string> {
    const { letters, retake, clock } = this.#deps;
    const [letter] = await letters.get('in', endpoint, [id]);
    if (letter === undefined) return 'done';
    try {
      const answer = await retake(letter);
      if (answer === 'done') await letters.remove('in', endpoint, [id]);
      else await letters.put({ ...letter, reason: answer, at: clock.now(), tries: letter.tries + 1 });
      return answer;
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      return error.message;
    }
  }

  /** Looks what became of letters until each is delivered or failed again, or the time is over. */
  async #watch(
    refs: readonly Ref[],
    report: Redriven,
    until: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let waiting = [...refs];
    while (waiting.length > 0) {
      const still = await this.#look(waiting.slice(0, LOOK), report);
      // Those that are looked for next stand at the end: some that never arrive hide no others.
      waiting = [...waiting.slice(LOOK), ...still];
      const isOver = this.#deps.clock.now() >= until || signal?.aborted === true;
      if (waiting.length === 0 || isOver) break;
      await this.#deps.sleep(LOOK_EVERY_MS, signal);
    }
    report.waiting += waiting.length;
  }

  /** Notes what became of letters; answers with those of which nothing is known yet. */
  async #look(refs: readonly Ref[], report: Redriven): Promise<Ref[]> {
    const still: Ref[] = [];
    for (const [endpoint, group] of byEndpoint(refs)) {
      const ids = group.map(({ id }) => id);
      const letters = await this.#deps.letters.get('out', endpoint, ids);
      const left = new Map(letters.map((letter) => [letter.id, letter]));
      for (const ref of group) {
        const letter = left.get(ref.id);
        if (letter === undefined) report.delivered += 1;
        else if (letter.redriven > ref.redriven) note(report, ref, letter.reason);
        else still.push(ref);
      }
    }
    return still;
  }
}

function note(report: Redriven, { direction, endpoint, id, type }: Ref, reason: string): void {
  report.failed += 1;
  if (report.failures.length < MOST_FAILURES) report.failures.push({ direction, endpoint, id, type, reason });
}
