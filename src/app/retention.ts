import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../ports/clock.js';
import type { RetentionRules } from '../ports/retention.js';
import type { Store } from '../ports/store.js';

/** Steps of one sweep: some hundred evaluations each. */
const STEPS = 200;
/** Milliseconds for which a follower's hold stands, and between renewals. */
const HOLD_MS = 60_000;
const RENEW_MS = 15_000;
/** Milliseconds that letting go may take. */
const END_MS = 1000;

/** Takes away what is kept no longer, step by step; the next sweep goes on. Returns how many evaluations went. */
export async function forgetBatches(
  { retention }: Pick<Store, 'retention'>,
  clock: Clock,
  rules: RetentionRules,
): Promise<number> {
  let forgotten = 0;
  for (let n = 0; n < STEPS; n++) {
    const step = await retention.forget(clock.now(), rules);
    forgotten += step.evaluations;
    if (!step.isMore) break;
  }
  return forgotten;
}

/**
 * A hold on a batch that is being read: nothing of it is forgotten behind `passed`, however long that takes.
 * A holder that dies is forgotten after a minute.
 */
export class BatchHold {
  readonly #store: Pick<Store, 'retention'>;
  readonly #clock: Clock;
  readonly #batch: string;
  readonly #follower: string;
  readonly #timer: NodeJS.Timeout;
  #cursor = '';

  private constructor(store: Pick<Store, 'retention'>, clock: Clock, batch: string, follower: string) {
    this.#store = store;
    this.#clock = clock;
    this.#batch = batch;
    this.#follower = follower;
    // A renewal that fails is made up for by the next one.
    this.#timer = setInterval(() => void this.#renew().catch(() => {}), RENEW_MS).unref();
  }

  /** Stands when this resolves; `follower`: a name that nobody else has. */
  static async take(
    store: Pick<Store, 'retention'>,
    clock: Clock,
    batch: string,
    follower: string,
  ): Promise<BatchHold> {
    const hold = new BatchHold(store, clock, batch, follower);
    await hold.#renew().catch((error: unknown) => {
      clearInterval(hold.#timer);
      throw error;
    });
    return hold;
  }

  /** All up to this cursor of the batch's log is read and needed no more. */
  passed(cursor: string): void {
    this.#cursor = cursor;
  }

  #renew(): Promise<void> {
    return this.#store.retention.follow(
      this.#batch,
      this.#follower,
      this.#cursor,
      this.#clock.now(),
      HOLD_MS,
    );
  }

  /** Lets go; when that fails, the hold ends by itself. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    const gone = this.#store.retention.unfollow(this.#batch, this.#follower).catch(() => {});
    await Promise.race([gone, delay(END_MS, undefined, { ref: false })]);
  }
}
