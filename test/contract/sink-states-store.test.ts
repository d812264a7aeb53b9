import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SinkState } from '../../src/ports/dead-letters.js';
import type { Store } from '../../src/ports/store.js';
import { event } from '../support/evidence.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { storeAdapters } from '../support/stores.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

const sink = (state: SinkState['state'], since: number, more: Partial<SinkState> = {}): SinkState => ({
  name: 'hook',
  kind: 'webhook',
  target: 'https://example.com/a b',
  state,
  reason: null,
  since,
  nextTry: null,
  ...more,
});

describe.each(storeAdapters(() => redis, 1000))('states of sinks on $name', ({ open }) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());
  const outboxIds = async () => (await store.outbox.events('', 1000, 0)).map(({ event: e }) => e.id);

  it('are kept by name, listed in its order, and forgotten', async () => {
    expect(await store.sinks.get('hook')).toBeUndefined();
    await store.sinks.note(sink('delivering', 1));
    await store.sinks.note(sink('away', 2, { name: 'bus', reason: 'no "answer"', nextTry: 9 }));
    expect(await store.sinks.get('hook')).toEqual(sink('delivering', 1));
    expect(await store.sinks.list()).toEqual([
      sink('away', 2, { name: 'bus', reason: 'no "answer"', nextTry: 9 }),
      sink('delivering', 1),
    ]);
    expect(await store.sinks.remove('hook')).toBe(true);
    expect(await store.sinks.remove('hook')).toBe(false);
    expect((await store.sinks.list()).map(({ name }) => name)).toEqual(['bus']);
  });

  it('write an event with a change, and keep the time of its beginning without one', async () => {
    await store.sinks.note(sink('delivering', 1), event('first'));
    await store.sinks.note(sink('delivering', 2), event('same'));
    await store.sinks.note(sink('disabled', 3, { reason: 'gone' }), event('gone'));
    await store.sinks.note(sink('disabled', 4, { reason: 'still gone' }), event('still'));
    expect(await store.sinks.get('hook')).toEqual(sink('disabled', 3, { reason: 'still gone' }));
    expect(await outboxIds()).toEqual(['first', 'gone']);
  });

  it('stay disabled for one that finds the sink away, until it is enabled', async () => {
    await store.sinks.note(sink('disabled', 3));
    await store.sinks.note(sink('away', 4), event('away'));
    expect(await store.sinks.get('hook')).toEqual(sink('disabled', 3));
    await store.sinks.note(sink('delivering', 5));
    await store.sinks.note(sink('away', 6), event('now'));
    expect(await store.sinks.get('hook')).toEqual(sink('away', 6));
    expect(await outboxIds()).toEqual(['now']);
  });
});
