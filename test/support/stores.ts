import { randomBytes } from 'node:crypto';
import { openMemoryStore } from '../../src/store/memory/index.js';
import { openRedisShards, openRedisStore } from '../../src/store/redis/index.js';
import { shardedStore } from '../../src/store/sharded/index.js';
import type { TestRedis } from './redis.js';

/** Every implementation of the store, each time a new and empty one; `redis` is asked for when one is opened. */
export const storeAdapters = (redis: () => TestRedis, outboxCap: number) => [
  {
    name: 'redis',
    open: () => openRedisStore({ url: redis().url, fleet: `f${randomBytes(4).toString('hex')}`, outboxCap }),
  },
  { name: 'memory', open: async () => openMemoryStore({ outboxCap }) },
];

/** Three shards of a fleet on one Redis, each time new and empty ones. */
export const shardedAdapter = (redis: () => TestRedis, outboxCap: number) => ({
  name: 'three shards',
  async open() {
    const fleet = `f${randomBytes(4).toString('hex')}`;
    const { stores } = await openRedisShards({ url: redis().url, fleet, outboxCap: 3 * outboxCap }, 3);
    return shardedStore(stores);
  },
});
