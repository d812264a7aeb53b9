import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/ports/store.js';
import type { ApiToken } from '../../src/ports/tokens.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { storeAdapters } from '../support/stores.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis?.stop());

const token = (name: string, more: Partial<ApiToken> = {}): ApiToken => ({
  name,
  role: 'read',
  sha256: `digest of ${name}`,
  createdAt: 1,
  expiresAt: null,
  ...more,
});

describe.each(storeAdapters(() => redis, 100))('tokens on $name', ({ open }) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  it('are found by their digest and listed by name', async () => {
    expect(await store.tokens.list()).toEqual([]);
    expect(await store.tokens.add(token('zoe', { role: 'operate', expiresAt: 5 }))).toBe(true);
    expect(await store.tokens.add(token('ann'))).toBe(true);
    expect(await store.tokens.find('digest of zoe')).toEqual(token('zoe', { role: 'operate', expiresAt: 5 }));
    expect(await store.tokens.find('digest of nobody')).toBeUndefined();
    expect((await store.tokens.list()).map(({ name }) => name)).toEqual(['ann', 'zoe']);
  });

  it('have one name each: the second of a name is refused and not kept', async () => {
    await store.tokens.add(token('ann'));
    expect(await store.tokens.add(token('ann', { sha256: 'another', role: 'operate' }))).toBe(false);
    expect(await store.tokens.find('another')).toBeUndefined();
    expect(await store.tokens.list()).toEqual([token('ann')]);
  });

  it('are gone once removed, and their name is free', async () => {
    await store.tokens.add(token('ann'));
    expect(await store.tokens.remove('ann')).toBe(true);
    expect(await store.tokens.remove('ann')).toBe(false);
    expect(await store.tokens.find('digest of ann')).toBeUndefined();
    expect(await store.tokens.add(token('ann', { sha256: 'another' }))).toBe(true);
    expect(await store.tokens.find('another')).toMatchObject({ name: 'ann' });
  });
});
