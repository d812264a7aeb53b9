import type { Redis } from 'ioredis';
import type { Store } from '../../ports/store.js';
import { RedisBatches } from './batches.js';
import { assertFit, connectRedis, type Durability, keyPrefix } from './client.js';
import type { RedisContext } from './context.js';
import { RedisEvaluations } from './evaluations.js';
import { RedisLetters } from './letters.js';
import { RedisOutbox } from './outbox.js';
import { RedisPlans } from './plans.js';
import { RedisRegistry } from './registry.js';
import { RedisRoster } from './roster.js';
import { defineScripts } from './scripts.js';
import { RedisSinks } from './sinks.js';
import { RedisTokens } from './tokens.js';
import { RedisUnserved } from './unserved.js';

export interface RedisStoreOptions {
  url: string;
  /** Name of the fleet; prefixes every key. */
  fleet: string;
  /** Entries of the outbox above which nothing more is accepted (DESIGN 5.5). */
  outboxCap: number;
  /** Default any. */
  durability?: Durability;
}

/**
 * Opens the store of a fleet. Throws REDIS_UNREACHABLE, REDIS_VERSION or REDIS_POLICY when this
 * Redis cannot be trusted with it.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const client = await connectRedis(options.url);
  const waiting = new Map<string, Redis>();
  try {
    await assertFit(client, options.url, options.durability);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  const context: RedisContext = {
    client,
    scripts: defineScripts(client),
    prefix: keyPrefix(options.fleet),
    outboxCap: options.outboxCap,
    waiting(purpose) {
      let own = waiting.get(purpose);
      if (own === undefined) {
        own = client.duplicate();
        own.on('error', () => {});
        waiting.set(purpose, own);
      }
      return own;
    },
  };
  const batches = new RedisBatches(context);
  return {
    batches,
    evaluations: new RedisEvaluations(context, batches),
    outbox: new RedisOutbox(context),
    roster: new RedisRoster(context),
    registry: new RedisRegistry(context),
    plans: new RedisPlans(context),
    unserved: new RedisUnserved(context),
    letters: new RedisLetters(context),
    sinks: new RedisSinks(context),
    tokens: new RedisTokens(context),
    durable: true,
    async close() {
      for (const own of waiting.values()) own.disconnect();
      client.disconnect();
    },
  };
}
