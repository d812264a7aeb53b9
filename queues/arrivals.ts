import type { Redis } from 'ioredis';
import { unwrap } from '../src/core/pipeline.js';

/** Longest wait inside Redis, in milliseconds: a connection that is silently gone is not waited for longer. */
const BLOCK_MS = 5000;
/** Entries of a stream that one look goes through. */
const PAGE = 200;

/** What BullMQ writes when there is a job to be taken. */
const ARRIVALS = new Set(['added', 'waiting']);

/** An entry of a stream: its id, then fields and values in turn. */
type Entry = [id: string, fields: string[]];

/** Ids of the newest entries, by the keys of their streams. */
export type Places = ReadonlyMap<string, string>;

function isArrival([, fields]: Entry): boolean {
  return fields[0] === 'event' && ARRIVALS.has(fields[1] ?? '');
}

/** The newest entry of each stream; the streams lie in one slot. */
export async function endsOf(redis: Redis, keys: readonly string[]): Promise<Places> {
  const pipeline = redis.pipeline();
  for (const key of keys) pipeline.xrevrange(key, '+', '-', 'COUNT', 1);
  const answers = unwrap(await pipeline.exec()) as Entry[][];
  return new Map(keys.map((key, i) => [key, answers[i]?.[0]?.[0] ?? '0']));
}

/**
 * Looks on at the event streams of some queues that lie in one slot. It reads as any onlooker does, so
 * that those who do the work lose nothing. Its connection is its own: a look blocks it.
 */
export class Arrivals {
  readonly #redis: Redis;
  readonly #keys: readonly string[];
  #places: Promise<Places>;
  /** A look may outlast the call that began it; what it finds is for the next call. */
  #looking: Promise<boolean> | undefined;

  /** `from`: what is older has not arrived. */
  constructor(redis: Redis, keys: readonly string[], from: Promise<Places>) {
    this.#redis = redis;
    this.#keys = keys;
    this.#places = from;
  }

  /** Resolves when something has arrived since the last call; or, after a look, when `isOver` says so. */
  async next(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#looking ??= this.#look();
      const looking = this.#looking;
      const found = await looking.catch((error: unknown) => {
        this.#looking = undefined;
        throw error;
      });
      // Nobody took what a look has found that began in an earlier call.
      if (isOver()) return;
      this.#looking = undefined;
      if (found) return;
    }
  }

  async #look(): Promise<boolean> {
    const from = new Map(await this.#places);
    const ids = this.#keys.map((key) => from.get(key) ?? '0');
    const streams = (await this.#redis.xread(
      'COUNT',
      PAGE,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      ...this.#keys,
      ...ids,
    )) as [string, Entry[]][] | null;
    let found = false;
    for (const [key, entries] of streams ?? []) {
      const last = entries.at(-1);
      if (last !== undefined) from.set(key, last[0]);
      found ||= entries.some(isArrival);
    }
    // One answer tells of everything so far: whoever hears it looks at the queues themselves.
    this.#places = Promise.resolve(found ? await endsOf(this.#redis, this.#keys) : from);
    return found;
  }
}
