import { setTimeout as delay } from 'node:timers/promises';
import type { BatchRecord } from '../core/batch.js';
import {
  type CheckQueue,
  isBulk,
  LAST_TURN,
  resumedAt,
  type Turns,
  turnAt,
  turnsOf,
} from '../core/fairness.js';
import type { Clock } from '../ports/clock.js';
import type { WorkQueue } from '../ports/queue.js';
import type { Store } from '../ports/store.js';

/** Evaluations that a batch may have accepted and not decided, where nobody says how many. */
export const DEFAULT_WINDOW = 20_000;
/** Evaluations, and milliseconds, after which a large batch looks again where it stands. */
const LOOK_AFTER = 512;
const LOOK_AFTER_MS = 1000;
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 200;
const QUEUES: readonly CheckQueue[] = ['pure', 'runner'];

/** Evaluations that go in together, and their checks by queue. */
export interface Load {
  evaluations: number;
  checks: Readonly<Record<CheckQueue, number>>;
}

export interface WindowDeps {
  store: { batches: Pick<Store['batches'], 'batch'> };
  queue: Pick<WorkQueue, 'front'>;
  clock: Clock;
  /** Once it fires nothing waits any more. */
  signal?: AbortSignal;
  /** Told while something waits, whenever more is decided. */
  moved?: () => void;
}

/**
 * Lets the work of one batch in: no more at a time than the window takes, and what is not among the first
 * of its batch with turns in fair order. Where this process and others fill the same batch, they share
 * its window, give or take what is on its way.
 */
export class Window {
  readonly #deps: WindowDeps;
  readonly #size: number;
  readonly #weight: number;
  readonly #batch: string;
  readonly #at: Record<CheckQueue, number> = { pure: LAST_TURN, runner: LAST_TURN };
  /** Checks let in by this process, and the most that one evaluation has. */
  readonly #checks: Record<CheckQueue, number> = { pure: 0, runner: 0 };
  readonly #most: Record<CheckQueue, number> = { pure: 0, runner: 0 };
  #evaluations: number;
  #decided: number;
  /** Evaluations without a decision at the last look, and those let in since. */
  #undecided: number;
  #since = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `size`: evaluations, 1 or more; `standing`: the batch when it was opened. */
  constructor(deps: WindowDeps, size: number, standing: BatchRecord) {
    this.#deps = deps;
    this.#size = size;
    this.#weight = standing.weight ?? 1;
    this.#batch = standing.id;
    this.#evaluations = standing.accepted;
    this.#decided = standing.decided;
    this.#undecided = standing.accepted - standing.decided;
  }

  /** Waits until there is room; answers with the turns of the work, undefined when it goes before others. */
  async enter({ evaluations, checks }: Load): Promise<Turns | undefined> {
    const isLarge = isBulk(this.#evaluations, this.#checks);
    for (const queue of QUEUES) this.#most[queue] = Math.max(this.#most[queue], checks[queue] / evaluations);
    if (this.#isFull() || (isLarge && this.#isLate())) await this.#look();
    for (let pauseMs = FIRST_PAUSE_MS; this.#isFull(); pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      await delay(pauseMs, undefined, { signal: this.#deps.signal }).catch(() => {});
      if (this.#deps.signal?.aborted) break;
      await this.#look();
    }
    this.#evaluations += evaluations;
    this.#since += evaluations;
    const turns: { pure?: number; runner?: number } = {};
    for (const queue of QUEUES) {
      if (checks[queue] === 0) continue;
      this.#checks[queue] += checks[queue];
      if (!isLarge) continue;
      turns[queue] = turnAt(this.#at[queue]);
      this.#at[queue] += turnsOf(queue, checks[queue], this.#weight);
    }
    return isLarge ? turns : undefined;
  }

  #isFull(): boolean {
    return this.#undecided + this.#since >= this.#size;
  }

  #isLate(): boolean {
    return this.#since >= LOOK_AFTER || this.#deps.clock.now() - this.#lookedAt >= LOOK_AFTER_MS;
  }

  async #look(): Promise<void> {
    const { store, queue, clock, moved } = this.#deps;
    const [batch, front] = await Promise.all([store.batches.batch(this.#batch), queue.front?.()]);
    this.#lookedAt = clock.now();
    this.#since = 0;
    this.#undecided = batch === undefined ? 0 : batch.accepted - batch.decided;
    if (batch !== undefined && batch.decided !== this.#decided) {
      this.#decided = batch.decided;
      moved?.();
    }
    for (const each of QUEUES) {
      const waiting = Math.ceil(this.#undecided * this.#most[each]);
      this.#at[each] = resumedAt(each, this.#at[each], front?.[each], waiting, this.#weight);
    }
  }
}
