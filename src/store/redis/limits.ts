import {
  LATE_MS,
  type Limit,
  LONGEST_PAUSE_MS,
  PAUSE_A_PLACE_MS,
  SHORTEST_PAUSE_MS,
} from '../../core/limits.js';
import type { LimitStore, TakeAnswer } from '../../ports/limits.js';
import type { RedisContext } from './context.js';

const NONE = -1;
/** Milliseconds that a set outlives what is in it: clocks of workers differ. */
const SPARE_MS = 60_000;

/** Limits in Redis: for each a sorted set of who runs, one of who waits, and what its rate has left. */
export class RedisLimits implements LimitStore {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  async take(
    holder: string,
    ticket: number,
    limits: readonly Limit[],
    now: number,
    leaseMs: number,
  ): Promise<TakeAnswer> {
    const { scripts, prefix } = this.#context;
    const pauseMs = await scripts['take-limits'](
      prefix,
      holder,
      ticket,
      now,
      now + leaseMs,
      LATE_MS,
      SHORTEST_PAUSE_MS,
      LONGEST_PAUSE_MS,
      PAUSE_A_PLACE_MS,
      ...limits.flatMap(({ name, concurrency = NONE, rate }) => [
        name,
        concurrency,
        rate?.count ?? NONE,
        rate?.per ?? NONE,
      ]),
    );
    return pauseMs === 0 ? { granted: true } : { granted: false, pauseMs: Number(pauseMs) };
  }

  async renew(holder: string, limits: readonly Limit[], until: number): Promise<void> {
    const { client, prefix } = this.#context;
    await Promise.all(
      limits.map(async ({ name }) => {
        const key = `${prefix}limit:${name}:held`;
        await client.zadd(key, 'XX', until, holder);
        await client.pexpireat(key, until + SPARE_MS);
      }),
    );
  }

  async release(holder: string, limits: readonly Limit[], isUnused: boolean): Promise<void> {
    const { scripts, prefix } = this.#context;
    const names = limits.map(({ name }) => name);
    await scripts['release-limits'](prefix, holder, isUnused ? 1 : 0, ...names);
  }
}
