import type { Redis } from 'ioredis';
import { unwrap } from '../src/core/pipeline.js';
import type { Backlog, QueueBacklog, WorkQueueName } from '../src/ports/backlog.js';
import { Arrivals, endsOf, type Places } from './arrivals.js';
import { QUEUES, queuePrefix } from './names.js';
import { type ConnectionListener, connect } from './redis.js';

const NAMES: readonly WorkQueueName[] = ['pure', 'runner', 'decide'];

/** BullMQ packs the time and a counter of 12 bits into the score of a delayed job. */
const DELAYED_SCORE = 0x1000;

/** Where the queues of a fleet are. */
export interface BacklogPlace {
  url: string;
  fleet: string;
  /** Default: 1. */
  shards?: number;
}

/** One queue of one shard, and what stands in front of its keys. */
interface Counted {
  queue: WorkQueueName;
  shard: number;
  prefix: string;
}

async function ask(redis: Redis, { prefix }: Counted): Promise<unknown[]> {
  const commands = [
    ['llen', `${prefix}wait`],
    ['llen', `${prefix}paused`],
    ['zcard', `${prefix}prioritized`],
    ['llen', `${prefix}active`],
    ['zcard', `${prefix}delayed`],
    ['get', `${prefix}id`],
    ['zrange', `${prefix}delayed`, '0', '0', 'WITHSCORES'],
    ['lindex', `${prefix}wait`, '0'],
    ['lindex', `${prefix}wait`, '-1'],
    ['zrange', `${prefix}prioritized`, '0', '0'],
  ];
  return unwrap(await redis.pipeline(commands).exec());
}

/** When the oldest of these jobs was added, in milliseconds since the epoch; undefined: all are gone. */
async function oldestOf(redis: Redis, prefix: string, ids: readonly string[]): Promise<number | undefined> {
  if (ids.length === 0) return undefined;
  const pipeline = redis.pipeline(ids.map((id) => ['hget', `${prefix}${id}`, 'timestamp']));
  const times = unwrap(await pipeline.exec())
    .filter((value) => value !== null && value !== undefined)
    .map(Number)
    .filter(Number.isFinite);
  return times.length === 0 ? undefined : Math.min(...times);
}

async function count(redis: Redis, counted: Counted): Promise<QueueBacklog> {
  const values = await ask(redis, counted);
  const [wait, paused, prioritized, active, delayed, added] = values.slice(0, 6).map(Number) as number[];
  const [, dueScore] = values[6] as string[];
  const ends = [values[7], values[8], ...(values[9] as string[])];
  const ids = [...new Set(ends.filter((id): id is string => typeof id === 'string'))];
  const oldest = await oldestOf(redis, counted.prefix, ids);
  const now = Date.now();
  return {
    queue: counted.queue,
    shard: counted.shard,
    waiting: (wait ?? 0) + (paused ?? 0) + (prioritized ?? 0),
    active: active ?? 0,
    delayed: delayed ?? 0,
    dueMs:
      dueScore === undefined ? undefined : Math.max(0, Math.floor(Number(dueScore) / DELAYED_SCORE) - now),
    added: added ?? 0,
    oldestMs: oldest === undefined ? undefined : Math.max(0, now - oldest),
  };
}

/**
 * What waits, read from the keys of BullMQ: a list for what has no priority, a sorted set for the rest.
 * Nothing of BullMQ is loaded for it. What stands at the ends of the list and at the head of the set is
 * taken for the oldest. `read` waits while Redis is away.
 */
export class BullBacklog implements Backlog {
  readonly #redis: Redis;
  readonly #connect: () => Redis;
  readonly #counted: Counted[] = [];
  /** Where the event streams of each shard ended when this was opened. */
  readonly #from: Promise<Places>[];
  readonly #arrivals = new Map<string, { redis: Redis; looks: Arrivals }>();
  #closed = false;

  constructor({ url, fleet, shards = 1 }: BacklogPlace, onError: ConnectionListener) {
    this.#connect = () => connect(url, onError);
    this.#redis = this.#connect();
    for (let shard = 0; shard < shards; shard++) {
      const before = `${queuePrefix(fleet, shard)}:`;
      for (const queue of NAMES) this.#counted.push({ queue, shard, prefix: `${before}${QUEUES[queue]}:` });
    }
    this.#from = Array.from({ length: shards }, (_, shard) => {
      const from = endsOf(this.#redis, this.#streams(shard, NAMES));
      from.catch(() => {});
      return from;
    });
  }

  #streams(shard: number, queues: readonly WorkQueueName[]): string[] {
    return this.#counted
      .filter((one) => one.shard === shard && queues.includes(one.queue))
      .map(({ prefix }) => `${prefix}events`);
  }

  read(): Promise<QueueBacklog[]> {
    return Promise.all(this.#counted.map((counted) => count(this.#redis, counted)));
  }

  #looks(shard: number, queues: readonly WorkQueueName[], from: Promise<Places>): Arrivals {
    const keys = this.#streams(shard, queues);
    const name = keys.join(' ');
    const open = this.#arrivals.get(name);
    if (open !== undefined) return open.looks;
    const redis = this.#connect();
    const looks = new Arrivals(redis, keys, from);
    this.#arrivals.set(name, { redis, looks });
    return looks;
  }

  async arrival(queues: readonly WorkQueueName[], timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#closed) return;
    let isOver = false;
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const timer = setTimeout(end, timeoutMs);
    signal.addEventListener('abort', end, { once: true });
    // Trouble with a connection is told by its listener; meanwhile the timeout holds.
    for (const [shard, from] of this.#from.entries())
      this.#looks(shard, queues, from)
        .next(() => isOver)
        .then(end, () => {});
    await over;
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { redis } of this.#arrivals.values()) redis.disconnect();
    this.#redis.disconnect();
  }
}
