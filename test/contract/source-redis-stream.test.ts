import { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { redisStream } from '../../queues/sources/redis-stream.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { type SourceServer, sourceSuite, structured } from '../support/source-suite.js';

const USER = 'fleet-user';
const PASSWORD = 'pass-word-3d2c1b';
const VARIABLE = 'SLUICE_TEST_SOURCE_PASSWORD';

beforeAll(() => {
  process.env[VARIABLE] = PASSWORD;
});
afterAll(() => {
  delete process.env[VARIABLE];
});

async function withClient<T>(redis: TestRedis, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(redis.url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

const setUser = (redis: TestRedis) =>
  withClient(redis, (client) =>
    client.call('ACL', 'SETUSER', USER, 'on', `>${PASSWORD}`, '+@all', '~*', '&*'),
  );

const placeOf = (redis: TestRedis, key: string): SourceServer => ({
  target: `${redis.url}#${key}`,
  options: { user: USER, password: { env: VARIABLE } },
  publish: (events) =>
    withClient(redis, async (client) => {
      const writes = client.pipeline();
      for (const event of events)
        writes.xadd(key, '*', 'id', event.id, 'type', event.type, 'event', structured(event));
      await writes.exec();
    }),
  kill: () => redis.kill(),
  async restart() {
    await redis.restart();
    await setUser(redis);
  },
  stop: async () => {},
});

sourceSuite('redis-stream', {
  kind: redisStream,
  secrets: [PASSWORD],
  async start() {
    const redis = await startTestRedis({ appendonly: true, appendfsync: 'always' });
    await setUser(redis);
    return { place: async (key) => placeOf(redis, key), stop: () => redis.stop() };
  },
});
