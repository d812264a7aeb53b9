import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Limit } from '../../src/core/limits.js';
import type { Store } from '../../src/ports/store.js';
import { openMemoryStore } from '../../src/store/memory/index.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { storeAdapters } from '../support/stores.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis?.stop());

const LEASE = 10_000;
const one: Limit = { name: 'validation:a/one', concurrency: 1 };
const two: Limit = { name: 'project:two', concurrency: 2 };
const three: Limit = { name: 'validation:a/rate', rate: { count: 3, per: 3000 } };
const GRANTED = { granted: true };

describe.each(storeAdapters(() => redis, 100))('limits on $name', ({ open }) => {
  let store: Store;
  const start = Date.now();
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  /** Asks at a time, in milliseconds since the beginning of the test; the ticket is the time of the first ask. */
  const take = (holder: string, at: number, limits: Limit[], ticket = at) =>
    store.limits.take(holder, start + ticket, limits, start + at, LEASE);

  it('let in as many as may run, and the next when one is through', async () => {
    expect(await take('a', 0, [two])).toEqual(GRANTED);
    expect(await take('b', 1, [two])).toEqual(GRANTED);
    expect(await take('c', 2, [two])).toEqual({ granted: false, pauseMs: 200 });
    await store.limits.release('a', [two], false);
    expect(await take('c', 202, [two], 2)).toEqual(GRANTED);
  });

  it('give a place to the one who asked first, however late it asks again', async () => {
    await take('a', 0, [one]);
    for (const [n, holder] of ['b', 'c', 'd'].entries()) await take(holder, 1 + n, [one]);
    await store.limits.release('a', [one], false);
    expect(await take('d', 300, [one], 3)).toEqual({ granted: false, pauseMs: 300 });
    expect(await take('e', 301, [one])).toEqual({ granted: false, pauseMs: 400 });
    expect(await take('b', 302, [one], 1)).toEqual(GRANTED);
  });

  it('pass over one who does not come again, until it does', async () => {
    await take('a', 0, [one]);
    await take('b', 1, [one]);
    await take('c', 2, [one]);
    await store.limits.release('a', [one], false);
    expect(await take('c', 8000, [one], 2)).toEqual(GRANTED);
    await take('d', 8001, [one]);
    await store.limits.release('c', [one], false);
    await take('b', 8002, [one], 1);
    expect(await take('d', 8003, [one], 8001)).toMatchObject({ granted: false });
  });

  it('free the places of a dead worker, and keep those that are renewed', async () => {
    await take('dead', 0, [one, two]);
    await take('alive', 0, [two]);
    await store.limits.renew('alive', [two], start + 25_000);
    await store.limits.renew('never', [two], start + 25_000);
    expect(await take('c', 9999, [one])).toMatchObject({ granted: false });
    expect(await take('c', 10_001, [one, two], 9999)).toEqual(GRANTED);
    expect(await take('d', 10_002, [two])).toMatchObject({ granted: false });
  });

  it('let in by a rate: some at once, then one after the other', async () => {
    for (const holder of ['a', 'b', 'c']) expect(await take(holder, 0, [three])).toEqual(GRANTED);
    expect(await take('d', 0, [three])).toEqual({ granted: false, pauseMs: 1000 });
    expect(await take('e', 500, [three])).toEqual({ granted: false, pauseMs: 1500 });
    expect(await take('d', 1000, [three], 0)).toEqual(GRANTED);
    await store.limits.release('d', [three], true);
    expect(await take('e', 1001, [three], 500)).toEqual(GRANTED);
  });

  it('take all places or none, and the same twice is once', async () => {
    await take('a', 0, [one]);
    expect(await take('b', 1, [one, two])).toMatchObject({ granted: false });
    expect(await take('c', 2, [two])).toEqual(GRANTED);
    expect(await take('d', 3, [two])).toEqual(GRANTED);
    expect(await take('d', 4, [two], 3)).toEqual(GRANTED);
    await store.limits.release('c', [two], false);
    expect(await take('e', 5, [two])).toEqual(GRANTED);
  });
});

describe('limits in Redis and in memory', () => {
  const [MOST, HOLDERS] = [25, 5];
  const step = fc.record({
    holder: fc.integer({ min: 0, max: HOLDERS - 1 }),
    afterMs: fc.integer({ min: 0, max: 4000 }),
    names: fc.subarray([one, two, three], { minLength: 1 }),
    free: fc.constantFrom('not', 'used', 'unused'),
  });

  it('decide the same', async () => {
    const [adapter] = storeAdapters(() => redis, 100);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: MOST }), async (steps) => {
        const stores = [
          await (adapter as { open(): Promise<Store> }).open(),
          openMemoryStore({ outboxCap: 1 }),
        ];
        let now = Date.now();
        try {
          for (const { holder, afterMs, names, free } of steps) {
            now += afterMs;
            const name = `h${holder}`;
            const ask = async ({ limits }: Store) => {
              const answer = await limits.take(name, 1000 + holder, names, now, LEASE);
              if (answer.granted && free !== 'not') await limits.release(name, names, free === 'unused');
              return answer;
            };
            const [first, second] = await Promise.all(stores.map(ask));
            expect(first).toEqual(second);
          }
        } finally {
          await Promise.all(stores.map((store) => store.close()));
        }
      }),
      { numRuns: 40 },
    );
  });
});
