import { randomBytes } from 'node:crypto';
import { openMemoryStore } from '../../src/store/memory/index.js';
import { openRedisStore } from '../../src/store/redis/index.js';
import type { TestRedis } from './redis.js';

/** Every implementation of the store, each time a new and empty one; `redis` is asked for when one is opened. */
export const storeAdapters = (redis: () => TestRedis, outboxCap: number) => [
  {
    name: 'redis',
    open: () => openRedisStore({ url: redis().url, fleet: `f${randomBytes(4).toString('hex')}`, outboxCap }),
  },
  { name: 'memory', open: async () => openMemoryStore({ outboxCap }) },
];
