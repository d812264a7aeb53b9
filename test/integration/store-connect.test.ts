import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedisStore } from '../../src/store/redis/index.js';
import { openingOf } from '../support/evidence.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

const open = (url: string) => openRedisStore({ url, fleet: 'f', outboxCap: 100 });

describe('connecting to Redis', () => {
  it('uses the database that the URL names', async () => {
    const store = await open(`${redis.url}/3`);
    await store.batches.openBatch(openingOf('b', []));
    await store.close();
    const client = new Redis(redis.url);
    const [none, some] = [await client.dbsize(), await client.select(3).then(() => client.dbsize())];
    client.disconnect();
    expect([none, some > 0]).toEqual([0, true]);
  });

  it.each(['99999', 'abc', '1x'])('refuses database %s instead of using another', async (name) => {
    await expect(open(`${redis.url}/${name}`)).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('refuses a Redis that may lose what it acknowledged, where that is demanded', async () => {
    const durable = () =>
      openRedisStore({ url: redis.url, fleet: 'f', outboxCap: 100, durability: 'always' });
    const refused = async () => {
      const error = await durable().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'REDIS_POLICY' });
      return (error as Error).message;
    };
    expect(await refused()).toMatch(/appendonly no and appendfsync everysec/);
    const client = new Redis(redis.url);
    try {
      await client.config('SET', 'appendonly', 'yes');
      expect(await refused()).toMatch(/has appendfsync everysec/);
      await client.config('SET', 'appendfsync', 'always');
      await (await durable()).close();
    } finally {
      await client.config('SET', 'appendfsync', 'everysec');
      await client.config('SET', 'appendonly', 'no');
      client.disconnect();
    }
  });

  it('says that a password is wanted', async () => {
    const client = new Redis(redis.url);
    await client.config('SET', 'requirepass', 'secret');
    try {
      const refused = await open(redis.url).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: 'REDIS_UNREACHABLE',
        message: expect.stringMatching(/password/),
      });
      const wrong = await open(redis.url.replace('//', '//:nope@')).catch((error: unknown) => error);
      expect(wrong).toMatchObject({ code: 'REDIS_UNREACHABLE', message: expect.not.stringMatching(/nope/) });
    } finally {
      await client.config('SET', 'requirepass', '');
      client.disconnect();
    }
  });
});
