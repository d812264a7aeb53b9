import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DeadLetter, LetterFilter } from '../../src/ports/dead-letters.js';
import type { Store } from '../../src/ports/store.js';
import { event } from '../support/evidence.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { storeAdapters } from '../support/stores.js';

const NOW = 1_700_000_000_000;

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

function letter(id: string, more: Partial<DeadLetter> = {}): DeadLetter {
  return {
    direction: 'out',
    endpoint: 'hook',
    id,
    type: 'dev.sluice.evaluation.failed.v1',
    subject: 'e-1',
    reason: 'it said no',
    code: 'refused',
    response: null,
    at: NOW,
    tries: 3,
    redriven: 0,
    content: `{"id":"${id}","text":"a: \\"b\\" é"}`,
    ...more,
  };
}

describe.each(storeAdapters(() => redis, 1000))('dead letters on $name', ({ open }) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  const put = async (...letters: DeadLetter[]) => {
    for (const one of letters) await store.letters.put(one);
  };
  const outboxIds = async () => (await store.outbox.events('', 1000, 0)).map(({ event: e }) => e.id);

  /** Every page of a listing, with what is done between two of them. */
  async function listed(
    filter: LetterFilter,
    limit = 100,
    between: (page: DeadLetter[]) => unknown = () => {},
  ) {
    const found: DeadLetter[] = [];
    let cursor: string | null = '';
    do {
      const page: { letters: DeadLetter[]; cursor: string | null } = await store.letters.list(
        filter,
        cursor,
        limit,
      );
      expect(page.letters.length).toBeLessThanOrEqual(limit);
      found.push(...page.letters);
      await between(page.letters);
      cursor = page.cursor;
    } while (cursor !== null);
    return found;
  }
  const idsOf = (letters: readonly DeadLetter[]) => letters.map(({ id }) => id);

  it('keeps a letter as it is, with its event', async () => {
    await store.letters.put(letter('a', { response: '500 no', subject: null, type: null }), event('notice'));
    expect(await store.letters.get('out', 'hook', ['a', 'b'])).toEqual([
      letter('a', { response: '500 no', subject: null, type: null }),
    ]);
    expect(await store.letters.get('in', 'hook', ['a'])).toEqual([]);
    expect(await store.letters.get('out', 'hook', [])).toEqual([]);
    expect(await outboxIds()).toEqual(['notice']);
  });

  it('puts the same letter in its place, redriven once more and without another event', async () => {
    await store.letters.put(letter('a'), event('notice'));
    await store.letters.put(letter('a', { reason: 'no again', at: NOW + 5 }), event('another'));
    await store.letters.put(letter('a', { endpoint: 'bus' }), event('of another sink'));
    expect(await store.letters.get('out', 'hook', ['a'])).toEqual([
      letter('a', { reason: 'no again', at: NOW + 5, redriven: 1 }),
    ]);
    expect(idsOf(await listed({ endpoint: 'hook' }))).toEqual(['a']);
    expect(await outboxIds()).toEqual(['notice', 'of another sink']);
  });

  it('lists the oldest first, over all endpoints, in pages', async () => {
    await put(
      letter('c', { at: NOW + 2 }),
      letter('urn:a', { direction: 'in', endpoint: 'orders', at: NOW }),
      letter('b', { endpoint: 'bus', at: NOW + 1 }),
    );
    for (const limit of [1, 2, 3, 100]) expect(idsOf(await listed({}, limit))).toEqual(['urn:a', 'b', 'c']);
    expect(await store.letters.list({}, '', 1)).toMatchObject({ cursor: expect.any(String) });
  });

  it.each<[string, LetterFilter, string[]]>([
    ['direction', { direction: 'in' }, ['in']],
    ['endpoint', { endpoint: 'bus' }, ['bus']],
    ['types', { types: ['plan.*'] }, ['plan']],
    ['code', { code: 'away' }, ['away']],
    ['the time from', { since: NOW + 3 }, ['away', 'new']],
    ['the time before', { before: NOW + 2 }, ['in', 'bus']],
    ['ids', { ids: ['plan', 'new', 'nobody'] }, ['plan', 'new']],
    ['several at once', { since: NOW + 1, before: NOW + 4, endpoint: 'hook', code: 'refused' }, ['plan']],
    ['what none is', { code: 'never' }, []],
  ])('filters by %s', async (_, filter, expected) => {
    await put(
      letter('in', { direction: 'in', endpoint: 'orders', type: null }),
      letter('bus', { endpoint: 'bus', at: NOW + 1 }),
      letter('plan', { type: 'dev.sluice.plan.failed.v1', at: NOW + 2 }),
      letter('away', { code: 'away', at: NOW + 3 }),
      letter('new', { at: NOW + 4 }),
    );
    for (const limit of [1, 100]) expect(idsOf(await listed(filter, limit))).toEqual(expected);
  });

  it('goes on where it was when letters are dropped or redriven meanwhile, however many are of one time', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `l${String(n).padStart(2, '0')}`);
    await put(...ids.map((id) => letter(id)));
    const dropped = await listed({}, 7, (page) => store.letters.remove('out', 'hook', idsOf(page)));
    expect(idsOf(dropped)).toEqual(ids);
    expect(await store.letters.counts()).toEqual([]);
    await put(...ids.map((id) => letter(id)));
    const seen: string[] = [];
    const again = await listed({ before: NOW + 1 }, 7, async (page) => {
      for (const { id } of page) {
        seen.push(id);
        await put(letter(id, { at: NOW + 9 }));
      }
    });
    expect(idsOf(again)).toEqual(ids);
    expect(seen).toEqual(ids);
  });

  it('counts and removes by endpoint', async () => {
    await put(letter('a'), letter('b'), letter('a', { direction: 'in' }), letter('a', { endpoint: 'bus' }));
    expect(await store.letters.counts()).toEqual([
      { direction: 'in', endpoint: 'hook', count: 1 },
      { direction: 'out', endpoint: 'bus', count: 1 },
      { direction: 'out', endpoint: 'hook', count: 2 },
    ]);
    expect(await store.letters.remove('out', 'hook', ['a', 'nobody'])).toBe(1);
    expect(await store.letters.remove('out', 'hook', ['a', 'b'])).toBe(1);
    expect(await store.letters.remove('out', 'nobody', ['a'])).toBe(0);
    expect(await store.letters.remove('out', 'bus', [])).toBe(0);
    expect(await store.letters.counts()).toEqual([
      { direction: 'in', endpoint: 'hook', count: 1 },
      { direction: 'out', endpoint: 'bus', count: 1 },
    ]);
  });

  it('goes through thousands, and removes them, in steps', async () => {
    const ids = Array.from({ length: 2300 }, (_, n) => `l${n}`);
    await Promise.all(ids.map((id, n) => store.letters.put(letter(id, { at: NOW + Math.floor(n / 100) }))));
    await put(letter('last', { at: NOW + 100, endpoint: 'bus' }));
    expect(idsOf(await listed({ endpoint: 'bus' }))).toEqual(['last']);
    expect(new Set(idsOf(await listed({ endpoint: 'hook' }, 300)))).toEqual(new Set(ids));
    expect(await store.letters.remove('out', 'hook', ids)).toBe(2300);
    expect(idsOf(await listed({}))).toEqual(['last']);
  });
});
