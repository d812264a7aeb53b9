import type { Redis } from 'ioredis';
import type { Store } from '../../ports/store.js';
import { RedisBatches } from './batches.js';
import { assertFit, clientName, connectRedis, type Durability, keyPrefix } from './client.js';
import type { RedisContext } from './context.js';
import { RedisEvaluations } from './evaluations.js';
import { RedisLetters } from './letters.js';
import { RedisLimits } from './limits.js';
import { memoryOf } from './memory.js';
import { RedisOutbox } from './outbox.js';
import { RedisPlans } from './plans.js';
import { RedisRegistry } from './registry.js';
import { RedisRetention } from './retention.js';
import { RedisRoster } from './roster.js';
import { timeRoundTrips } from './round-trips.js';
import { defineScripts, type Scripts } from './scripts.js';
import { claimShards, countOf, markShards, type ShardsMark } from './shards.js';
import { RedisSinks } from './sinks.js';
import { RedisTokens } from './tokens.js';
import { RedisUnserved } from './unserved.js';
import { WaitingPool } from './waiting.js';

export interface RedisStoreOptions {
  url: string;
  /** Name of the fleet; prefixes every key. */
  fleet: string;
  /** Entries of the outbox, of all shards together, above which nothing more is accepted (DESIGN 5.5). */
  outboxCap: number;
  /** Default any. */
  durability?: Durability;
  /** Told of some round trips, in seconds. */
  onRoundTrip?: (seconds: number) => void;
}

/**
 * Opens the store of a fleet with one shard, or the home of one with several. Throws REDIS_UNREACHABLE,
 * REDIS_VERSION or REDIS_POLICY when this Redis cannot be trusted with it.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const client = await openClient(options);
  return storeOf(client, defineScripts(client), options, 0);
}

/**
 * Opens the store of each shard of a fleet, over one connection. `wanted`: how many there are to be; absent: as
 * many as the fleet has, one of a new fleet; `as it is`: for who only looks, so that a new fleet stays new.
 * Throws also SHARDS_CHANGED when the fleet has another number.
 */
export async function openRedisShards(
  options: RedisStoreOptions,
  wanted?: number | 'as it is',
): Promise<{ stores: Store[]; mark: ShardsMark }> {
  const client = await openClient(options);
  try {
    const scripts = defineScripts(client);
    const mark = await (wanted === 'as it is'
      ? markShards(scripts, options.fleet)
      : claimShards(scripts, options.fleet, wanted));
    const outboxCap = Math.ceil(options.outboxCap / mark.shards);
    const stores = Array.from({ length: countOf(mark) }, (_, shard) =>
      storeOf(client, scripts, { ...options, outboxCap }, shard),
    );
    return { stores, mark };
  } catch (error) {
    client.disconnect();
    throw error;
  }
}

async function openClient({ url, durability, fleet, onRoundTrip }: RedisStoreOptions): Promise<Redis> {
  const client = await connectRedis(url, { name: clientName(fleet) });
  if (onRoundTrip !== undefined) timeRoundTrips(client, onRoundTrip);
  try {
    await assertFit(client, url, durability);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  return client;
}

function storeOf(client: Redis, scripts: Scripts, options: RedisStoreOptions, shard: number): Store {
  const waiting = new Map<string, Redis>();
  const open = () => {
    const own = client.duplicate();
    own.on('error', () => {});
    return own;
  };
  const pool = new WaitingPool(open);
  const context: RedisContext = {
    client,
    scripts,
    prefix: keyPrefix(options.fleet, shard),
    outboxCap: options.outboxCap,
    waiting(purpose) {
      let own = waiting.get(purpose);
      if (own === undefined) {
        own = open();
        waiting.set(purpose, own);
      }
      return own;
    },
    whileWaiting: (run) => pool.run(run),
  };
  const batches = new RedisBatches(context);
  return {
    batches,
    evaluations: new RedisEvaluations(context, batches),
    retention: new RedisRetention(context),
    outbox: new RedisOutbox(context),
    roster: new RedisRoster(context),
    registry: new RedisRegistry(context),
    plans: new RedisPlans(context),
    unserved: new RedisUnserved(context),
    letters: new RedisLetters(context),
    sinks: new RedisSinks(context),
    tokens: new RedisTokens(context),
    limits: new RedisLimits(context),
    memory: () => memoryOf(client),
    durable: true,
    async close() {
      for (const own of waiting.values()) own.disconnect();
      pool.close();
      client.disconnect();
    },
  };
}
