import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { unwrap } from '../../core/pipeline.js';
import { SluiceError } from '../../core/problem.js';
import { shardOf, shardOfPlan } from '../../core/shards.js';
import { assertFit, clientName, connectRedis, keyPrefix, mastersOf } from './client.js';
import { defineScripts, type Scripts } from './scripts.js';
import { countOf, markShards, type ShardsMark } from './shards.js';

/** What one shard holds that is not where new work of the same id would be. */
export interface LeftInShard {
  shard: number;
  /** Chunks of evaluations, and plans. */
  chunks: number;
  plans: number;
  /** Parts of batches, events, and jobs of queues; only of a shard that gets nothing new. */
  batches: number;
  events: number;
  jobs: number;
  /** When the last of it goes by itself, in milliseconds since the epoch; null: some is still in use. */
  until: number | null;
}

/** How many shards a fleet has, and what is left of another number. */
export interface ShardsReport extends ShardsMark {
  left: LeftInShard[];
}

const SCAN = 1000;
/** Milliseconds between looks at whether connections are gone, and how many of these. */
const GOING_MS = 50;
const GOING_LOOKS = 10;
const JOBS = /:(?:wait|active|delayed|prioritized|paused|waiting-children)$/;
/** The schedule of the sweeper waits for ever. */
const SCHEDULE = /^sweep:/;

/** Gives a fleet another number of shards. What there is stays where it is, and is found there. */
export class Reshard {
  readonly #client: Redis;
  readonly #scripts: Scripts;
  readonly #fleet: string;

  constructor(client: Redis, fleet: string) {
    this.#client = client;
    this.#scripts = defineScripts(client);
    this.#fleet = fleet;
  }

  /** How the fleet stands; forgets former numbers of which nothing is left. */
  async look(): Promise<ShardsReport> {
    const mark = await markShards(this.#scripts, this.#fleet);
    const left = mark.former.length === 0 ? [] : await this.#left(mark);
    if (mark.former.length === 0 || left.length > 0) return { ...mark, left };
    await this.#set(mark, { shards: mark.shards, former: [] });
    return { shards: mark.shards, former: [], left };
  }

  /** Throws IN_USE while a process of the fleet is connected: it would not know of the change. */
  async change(to: number): Promise<ShardsReport> {
    let connected = await this.#connected();
    // One that has just ended may still be listed.
    for (let looks = 0; connected.length > 0 && looks < GOING_LOOKS; looks += 1) {
      await delay(GOING_MS);
      connected = await this.#connected();
    }
    if (connected.length > 0) {
      const problems = connected.map((address) => ({ path: address, message: 'is connected' }));
      const message = `Processes of fleet "${this.#fleet}" are running. Stop all of them, those that submit work too; then run this again.`;
      throw new SluiceError('IN_USE', message, problems);
    }
    const mark = await markShards(this.#scripts, this.#fleet, to);
    const former = [...new Set([...mark.former, mark.shards])].filter((shards) => shards !== to);
    const next: ShardsMark = { shards: to, former: former.sort((a, b) => a - b) };
    // Readers have a place in each shard before anything is written there.
    await this.#openReaders(countOf(mark), countOf(next));
    await this.#set(mark, next);
    return this.look();
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }

  async #set(mark: ShardsMark, next: ShardsMark): Promise<void> {
    const parts = [mark, next].flatMap(({ shards, former }) => [shards, former.join(',')]);
    const isSet = await this.#scripts['set-shards'](keyPrefix(this.#fleet), ...parts);
    if (isSet !== 1)
      throw new SluiceError('IN_USE', `Another process changes the shards of fleet "${this.#fleet}" now.`);
  }

  /** Addresses of connections of the fleet's processes. */
  async #connected(): Promise<string[]> {
    const lists = await Promise.all(mastersOf(this.#client).map((master) => master.client('LIST')));
    return String(lists.join('\n'))
      .split('\n')
      .filter((line) => line.includes(` name=${clientName(this.#fleet)} `))
      .map((line) => / addr=(\S+)/.exec(line)?.[1] ?? '');
  }

  async #openReaders(from: number, to: number): Promise<void> {
    const home = `${keyPrefix(this.#fleet)}outbox`;
    if ((await this.#client.exists(home)) === 0) return;
    const groups = (await this.#client.xinfo('GROUPS', home)) as unknown[][];
    for (let shard = from; shard < to; shard += 1) {
      const stream = `${keyPrefix(this.#fleet, shard)}outbox`;
      for (const group of groups) {
        await this.#client
          .xgroup('CREATE', stream, String(group[1]), '0', 'MKSTREAM')
          .catch((error: Error) => {
            if (!error.message.startsWith('BUSYGROUP')) throw error;
          });
      }
    }
  }

  async #left(mark: ShardsMark): Promise<LeftInShard[]> {
    const left: LeftInShard[] = [];
    for (let shard = 0; shard < countOf(mark); shard += 1) {
      const found = await this.#leftIn(shard, mark.shards);
      const { chunks, plans, batches, events, jobs } = found;
      if (chunks + plans + batches + events + jobs > 0) left.push(found);
    }
    return left;
  }

  async #leftIn(shard: number, shards: number): Promise<LeftInShard> {
    const left: LeftInShard = { shard, chunks: 0, plans: 0, batches: 0, events: 0, jobs: 0, until: 0 };
    const prefix = keyPrefix(this.#fleet, shard);
    const isDropped = shard >= shards;
    for await (const keys of this.#keys(prefix)) {
      const misplaced: string[] = [];
      for (const key of keys) {
        const [kind = '', id = '', more] = key.slice(prefix.length).split(':');
        const isAway =
          (kind === 'chunk' && shardOf(id, shards) !== shard) ||
          (kind === 'plan' && shardOfPlan(key.slice(prefix.length + 5), shards) !== shard);
        const isPart = isDropped && kind === 'batch' && more === undefined;
        if (isAway || isPart) misplaced.push(key);
        if (isAway) left[kind === 'chunk' ? 'chunks' : 'plans'] += 1;
        if (isPart) left.batches += 1;
        if (isDropped && JOBS.test(key) && !SCHEDULE.test(key.slice(prefix.length)))
          left.jobs += await this.#sizeOf(key);
      }
      await this.#note(left, misplaced);
    }
    if (isDropped) left.events = await this.#client.xlen(`${prefix}outbox`);
    if (left.jobs + left.events > 0) left.until = null;
    return left;
  }

  /** Notes when these go. */
  async #note(left: LeftInShard, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const reads = this.#client.pipeline();
    for (const key of keys) reads.pttl(key);
    for (const ttl of unwrap(await reads.exec()) as number[]) {
      if (ttl === -1) left.until = null;
      else if (left.until !== null) left.until = Math.max(left.until, Date.now() + ttl);
    }
  }

  /** Of a list or a sorted set; a marker of BullMQ in one is no job. */
  async #sizeOf(key: string): Promise<number> {
    const type = await this.#client.type(key);
    if (type === 'list') return this.#client.llen(key);
    return type === 'zset' ? this.#client.zcard(key) : 0;
  }

  async *#keys(prefix: string): AsyncGenerator<string[]> {
    for (const master of mastersOf(this.#client)) {
      let cursor = '0';
      do {
        const [next, keys] = await master.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', SCAN);
        cursor = next;
        yield keys;
      } while (cursor !== '0');
    }
  }
}

/** Throws as the opening of the fleet does. */
export async function openReshard(url: string, fleet: string): Promise<Reshard> {
  const client = await connectRedis(url);
  try {
    await assertFit(client, url);
    return new Reshard(client, fleet);
  } catch (error) {
    client.disconnect();
    throw error;
  }
}
