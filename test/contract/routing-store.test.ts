import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chunk } from '../../src/core/manifest.js';
import type { Store } from '../../src/ports/store.js';
import { openRedisStore } from '../../src/store/redis/index.js';
import { chunkOf, decisionOf, event, openingOf } from '../support/evidence.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { storeAdapters } from '../support/stores.js';

const NOW = 1_700_000_000_000;

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

describe.each(storeAdapters(() => redis, 100))('who serves what, in the store on $name', ({ open }) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
    await store.batches.openBatch(openingOf('b', []));
  });
  afterEach(() => store.close());

  const accept = async (name: string): Promise<Chunk> => {
    const chunk = chunkOf('b', name, 1);
    await store.evaluations.accept(chunk, [], [], NOW, NOW + 3_600_000);
    return chunk;
  };
  const mark = (chunk: Chunk, needs: string[], since = NOW) => ({ chunk: chunk.id, needs, since });
  const decide = (chunk: Chunk) =>
    store.evaluations.commit(chunk, 's', '{}', [decisionOf(chunk, 0, 'passed')], NOW, 60_000);
  const outboxIds = async () => (await store.outbox.events('', 1000, 0)).map(({ event: { id } }) => id);

  it('keeps a roster of who beat lately, and of what each serves', async () => {
    await store.roster.beat('worker', 'a/b', NOW, ['ansible', 'pure']);
    await store.roster.beat('aggregator', 'x', NOW + 5);
    await store.roster.beat('worker', 'old', NOW - 100, ['pure']);
    const alive = await store.roster.alive(NOW);
    expect(alive).toHaveLength(2);
    expect(alive).toEqual(
      expect.arrayContaining([
        { role: 'worker', id: 'a/b', serves: ['ansible', 'pure'] },
        { role: 'aggregator', id: 'x', serves: [] },
      ]),
    );
    await store.roster.leave('worker', 'a/b');
    expect(await store.roster.alive(NOW)).toEqual([{ role: 'aggregator', id: 'x', serves: [] }]);
  });

  it('tells what a role serves now, not what it or its namesake served before', async () => {
    await store.roster.beat('worker', 'w', NOW, ['ansible', 'pure']);
    await store.roster.beat('worker', 'w', NOW + 1, ['pure']);
    expect(await store.roster.alive(NOW)).toEqual([{ role: 'worker', id: 'w', serves: ['pure'] }]);
    await store.roster.leave('worker', 'w');
    await store.roster.beat('worker', 'w', NOW + 2);
    expect(await store.roster.alive(NOW)).toEqual([{ role: 'worker', id: 'w', serves: [] }]);
  });

  it('notes a chunk with its event once for the same needs, in whatever order', async () => {
    const chunk = await accept('c');
    expect(await store.unserved.note(mark(chunk, ['mcp:x', 'ansible']), event('u1'))).toBe(true);
    expect(await store.unserved.note(mark(chunk, ['ansible', 'mcp:x'], NOW + 1), event('u2'))).toBe(false);
    expect(await store.unserved.list(10)).toEqual([mark(chunk, ['ansible', 'mcp:x'])]);
    expect(await outboxIds()).toEqual(['u1']);
    expect(await store.unserved.note(mark(chunk, ['ansible'], NOW + 2), event('u3'))).toBe(true);
    expect(await store.unserved.list(10)).toEqual([mark(chunk, ['ansible'], NOW + 2)]);
    expect(await outboxIds()).toEqual(['u1', 'u3']);
  });

  it('lets one of many noters note it', async () => {
    const chunk = await accept('c');
    const told = Array.from({ length: 8 }, (_, n) =>
      store.unserved.note(mark(chunk, ['ansible']), event(`u${n}`)),
    );
    expect((await Promise.all(told)).filter((isFirst) => isFirst)).toHaveLength(1);
    expect(await outboxIds()).toHaveLength(1);
  });

  it('notes a chunk again that was cleared', async () => {
    const chunk = await accept('c');
    await store.unserved.note(mark(chunk, ['ansible']), event('u1'));
    await store.unserved.clear(chunk.id);
    await store.unserved.clear('nobody');
    expect(await store.unserved.list(10)).toEqual([]);
    expect(await store.unserved.note(mark(chunk, ['ansible'], NOW + 9), event('u2'))).toBe(true);
  });

  it('notes nothing that is decided or unknown, with no event', async () => {
    const chunk = await accept('c');
    await decide(chunk);
    const strange = chunkOf('b', 'strange', 1);
    expect(await store.unserved.note(mark(chunk, ['ansible']), event('u1'))).toBe(false);
    expect(await store.unserved.note(mark(strange, ['ansible']), event('u2'))).toBe(false);
    expect(await store.unserved.list(10)).toEqual([]);
    expect((await outboxIds()).filter((id) => id.startsWith('u'))).toEqual([]);
  });

  it('lists the oldest first, of all or of those asked for, without what is decided', async () => {
    const chunks: Chunk[] = [];
    for (let n = 0; n < 5; n++) {
      const chunk = await accept(`c${n}`);
      chunks.push(chunk);
      await store.unserved.note(mark(chunk, ['ansible'], NOW - n), event(`u${n}`));
    }
    const ids = async (limit: number, of?: string[]) =>
      (await store.unserved.list(limit, of)).map(({ chunk }) => chunk);
    expect(await ids(10)).toEqual(['c4-0', 'c3-0', 'c2-0', 'c1-0', 'c0-0']);
    await decide(chunks[4] as Chunk);
    await decide(chunks[2] as Chunk);
    expect(await ids(2)).toEqual(['c3-0', 'c1-0']);
    expect(await ids(10)).toEqual(['c3-0', 'c1-0', 'c0-0']);
    expect(await ids(10, ['c0-0', 'c2-0', 'c3-0', 'nobody'])).toEqual(['c3-0', 'c0-0']);
    expect(await ids(1, ['c0-0', 'c3-0'])).toEqual(['c3-0']);
    expect(await ids(10, [])).toEqual([]);
  });
});

describe('the roster on Redis', () => {
  it('reads heartbeats of a version that did not say what it serves, and forgets what is old', async () => {
    const store = await openRedisStore({ url: redis.url, fleet: 'older', outboxCap: 10 });
    const client = new Redis(redis.url);
    try {
      await client.zadd('older:{0}:roles', NOW, 'worker/before');
      await client.hset('older:{0}:roles:serves', 'worker/spoilt', '{"a":1}', 'worker/broken', '[');
      await client.zadd('older:{0}:roles', NOW, 'worker/spoilt', NOW, 'worker/broken');
      const serves = (await store.roster.alive(NOW)).map((each) => each.serves);
      expect(serves).toEqual([[], [], []]);
      await store.roster.beat('worker', 'gone', NOW, ['pure']);
      await store.roster.beat('worker', 'now', NOW + 3_600_001, ['pure']);
      expect(await client.zrange('older:{0}:roles', '0', '-1')).toEqual(['worker/now']);
      expect(await client.hkeys('older:{0}:roles:serves')).toEqual(['worker/now']);
    } finally {
      client.disconnect();
      await store.close();
    }
  });
});
