import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestRedis, type TestRedis, type TestRedisOptions } from '../support/redis.js';

// CI runs this file twice: with a local redis-server and, SLUICE_TEST_REDIS=docker, with testcontainers.
let redis: TestRedis;

async function start(options: TestRedisOptions): Promise<void> {
  redis = await startTestRedis(options);
}

async function ask<T>(work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(redis.url);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

afterEach(() => redis.stop());

describe('a test’s Redis', () => {
  it('is the kind that was asked for, on loopback', async () => {
    await start({});
    const wanted = process.env.SLUICE_TEST_REDIS === 'docker' ? 'docker' : redis.kind;
    expect(redis.kind).toBe(wanted);
    expect(redis.host).toBe('127.0.0.1');
    expect(await ask((client) => client.ping())).toBe('PONG');
  });

  it('has the settings that were asked for', async () => {
    await start({ appendonly: true, appendfsync: 'always', maxmemory: '20mb', policy: 'allkeys-lru' });
    const settings = await ask((client) => client.config('GET', 'append*', 'maxmemory*'));
    expect(settings).toEqual(
      expect.arrayContaining(['yes', 'always', String(20 * 1024 * 1024), 'allkeys-lru']),
    );
  });

  it('has what was on disk after a kill, at the same address', async () => {
    await start({ appendonly: true, appendfsync: 'always' });
    const url = redis.url;
    await ask((client) => client.set('kept', '1'));
    await redis.kill();
    await redis.restart();
    expect(redis.url).toBe(url);
    expect(await ask((client) => client.get('kept'))).toBe('1');
  });
});
