import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { startTestRedis, type TestRedis, type TestRedisOptions } from './redis.js';

/** A Redis of all tests of a file or block, with a client that looks on. */
export interface UsedRedis extends TestRedis {
  readonly client: Redis;
}

/** Starts a Redis for the file or block that this is called in, and ends it after. Nothing of it is there before. */
export function useTestRedis(options: TestRedisOptions = {}): UsedRedis {
  let used: { server: TestRedis; client: Redis } | undefined;
  const started = () => {
    if (used === undefined) throw new Error('the Redis of these tests is not there yet');
    return used;
  };
  beforeAll(async () => {
    const server = await startTestRedis(options);
    used = { server, client: new Redis(server.url) };
  });
  afterAll(async () => {
    used?.client.disconnect();
    await used?.server.stop();
  });
  return {
    get kind() {
      return started().server.kind;
    },
    get url() {
      return started().server.url;
    },
    get host() {
      return started().server.host;
    },
    get port() {
      return started().server.port;
    },
    get client() {
      return started().client;
    },
    stop: () => started().server.stop(),
    kill: () => started().server.kill(),
    restart: () => started().server.restart(),
  };
}
