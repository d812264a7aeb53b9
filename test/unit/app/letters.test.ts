import { describe, expect, it } from 'vitest';
import { Letters, type LettersDeps, NO_DISPATCHER } from '../../../src/app/letters.js';
import { SluiceError } from '../../../src/core/problem.js';
import type { DeadLetter } from '../../../src/ports/dead-letters.js';
import { openMemoryStore } from '../../../src/store/memory/index.js';

const letter = (n: number, some: Partial<DeadLetter> = {}): DeadLetter => ({
  direction: 'out',
  endpoint: 'hook',
  id: `e${String(n).padStart(4, '0')}`,
  type: 'dev.sluice.evaluation.failed.v1',
  subject: `s${n}`,
  reason: 'it said no',
  code: 'refused',
  response: null,
  at: 1000 + n,
  tries: 20,
  redriven: 0,
  content: '{}',
  ...some,
});

/** A fleet whose dispatcher answers at once, with a clock that `sleep` moves. */
async function fleet(
  given: readonly DeadLetter[],
  answer: (id: string) => 'arrives' | 'fails' | 'stays' = () => 'arrives',
  some: Partial<LettersDeps> & { dispatcher?: boolean } = {},
) {
  const store = openMemoryStore({ outboxCap: 1000 });
  let now = 1_000_000;
  const enqueued: { endpoint: string; ids: readonly string[]; perSecond: number }[] = [];
  for (const one of given) await store.letters.put(one);
  if (some.dispatcher !== false) await store.roster.beat('dispatcher', 'd1', now);
  const deps: LettersDeps = {
    letters: store.letters,
    roster: store.roster,
    clock: { now: () => now },
    deadAfterMs: 10_000,
    retake: async () => 'done',
    queue: async () => ({
      async enqueue(endpoint, ids, perSecond) {
        enqueued.push({ endpoint, ids, perSecond });
        for (const one of await store.letters.get('out', endpoint, ids)) {
          const became = answer(one.id);
          if (became === 'arrives') await store.letters.remove('out', endpoint, [one.id]);
          if (became === 'fails') await store.letters.put({ ...one, at: now, reason: 'it said no again' });
        }
      },
    }),
    sleep: async (ms) => {
      now += ms;
    },
    ...some,
  };
  const count = async () => (await store.letters.counts()).reduce((sum, one) => sum + one.count, 0);
  return { letters: new Letters(deps), store, enqueued, count, now: () => now };
}

const many = (count: number, some: Partial<DeadLetter> = {}) =>
  Array.from({ length: count }, (_, n) => letter(n, some));

describe('a redrive of dead letters', () => {
  it('reports what has arrived, what failed again with its reason, and what is not known', async () => {
    const became = { e0000: 'arrives', e0001: 'fails', e0002: 'stays' } as const;
    const { letters, now } = await fleet(many(3), (id) => became[id as keyof typeof became]);
    const begun = now();
    expect(await letters.redrive({ endpoint: 'hook' }, { perSecond: 10, waitMs: 5000 })).toEqual({
      matched: 3,
      delivered: 1,
      failed: 1,
      failures: [
        {
          direction: 'out',
          endpoint: 'hook',
          id: 'e0001',
          type: 'dev.sluice.evaluation.failed.v1',
          reason: 'it said no again',
        },
      ],
      waiting: 1,
    });
    expect(now() - begun).toBeGreaterThanOrEqual(5000);
  });

  it('tries each letter once, though one that fails becomes the newest', async () => {
    const { letters, enqueued } = await fleet(many(450), () => 'fails');
    const report = await letters.redrive({}, { perSecond: 100, all: true });
    expect(report).toMatchObject({ matched: 450, delivered: 0, failed: 450, waiting: 0 });
    expect(enqueued.flatMap(({ ids }) => ids)).toHaveLength(450);
  });

  it('sees what arrives behind a thousand that do not', async () => {
    const { letters } = await fleet(many(1100), (id) => (id > 'e1049' ? 'arrives' : 'stays'));
    const report = await letters.redrive({ endpoint: 'hook' }, { perSecond: 1000, waitMs: 2000 });
    expect(report).toMatchObject({ matched: 1100, delivered: 50, waiting: 1050 });
  });

  it('waits as long as its rate needs', async () => {
    const { letters, enqueued, now } = await fleet(many(20), () => 'stays');
    const begun = now();
    await letters.redrive({ endpoint: 'hook' }, { perSecond: 0.5 });
    expect(enqueued).toEqual([expect.objectContaining({ endpoint: 'hook', perSecond: 0.5 })]);
    expect(now() - begun).toBeGreaterThanOrEqual(40_000);
  });

  it('says at once that no dispatcher is alive, and leaves the letters', async () => {
    const { letters, enqueued, count, now } = await fleet(many(3), () => 'arrives', { dispatcher: false });
    const begun = now();
    const report = await letters.redrive({ endpoint: 'hook' }, { perSecond: 10 });
    expect(report).toMatchObject({ matched: 3, delivered: 0, failed: 3, waiting: 0 });
    expect(report.failures.map(({ reason }) => reason)).toEqual([
      NO_DISPATCHER,
      NO_DISPATCHER,
      NO_DISPATCHER,
    ]);
    expect([enqueued, await count(), now()]).toEqual([[], 3, begun]);
  });

  it('takes letters of sources again, without any dispatcher', async () => {
    const given = [0, 1, 2].map((n) => letter(n, { direction: 'in', endpoint: 'bus' }));
    const retake = async ({ id }: DeadLetter) => {
      if (id === 'e0000') return 'done';
      if (id === 'e0001') return 'plan p1 is over';
      throw new SluiceError('UNAVAILABLE', 'the host does not answer');
    };
    const { letters, store } = await fleet(given, undefined, { dispatcher: false, retake });
    const report = await letters.redrive({ direction: 'in' }, { perSecond: 10 });
    expect(report).toMatchObject({ matched: 3, delivered: 1, failed: 2, waiting: 0 });
    expect(report.failures.map(({ reason }) => reason)).toEqual([
      'plan p1 is over',
      'the host does not answer',
    ]);
    expect(await store.letters.get('in', 'bus', ['e0000', 'e0001', 'e0002'])).toEqual([
      expect.objectContaining({ id: 'e0001', redriven: 1, reason: 'plan p1 is over', tries: 21 }),
      expect.objectContaining({ id: 'e0002', redriven: 0, reason: 'it said no' }),
    ]);
  });

  it('ends when it is told to, and counts the rest as waiting', async () => {
    const { letters } = await fleet(many(3), () => 'stays');
    const signal = AbortSignal.abort();
    expect(await letters.redrive({ endpoint: 'hook' }, { perSecond: 1, signal })).toMatchObject({
      waiting: 3,
    });
  });

  it('does nothing where nothing is meant', async () => {
    const { letters, enqueued } = await fleet(many(3));
    expect(await letters.redrive({ endpoint: 'other' }, { perSecond: 1 })).toMatchObject({ matched: 0 });
    await expect(letters.redrive({}, { perSecond: 1 })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(enqueued).toEqual([]);
  });
});

describe('dropping dead letters', () => {
  it('drops those of the filter, however many, and answers how many', async () => {
    const others = many(3, { endpoint: 'audit' });
    const { letters, count } = await fleet([...many(450), ...others]);
    expect(await letters.drop({ endpoint: 'hook' })).toBe(450);
    expect(await count()).toBe(3);
    expect(await letters.drop({ endpoint: 'hook' })).toBe(0);
  });

  it.each([
    [{ code: 'gone' }, 1],
    [{ types: ['plan.*'] }, 1],
    [{ before: 1001 }, 1],
    [{ since: 1002 }, 2],
    [{ direction: 'in' as const }, 1],
    [{ ids: ['e0000', 'e0003'] }, 2],
  ])('of %j drops %i', async (filter, dropped) => {
    const { letters } = await fleet([
      letter(0),
      letter(1, { code: 'gone' }),
      letter(2, { type: 'dev.sluice.plan.failed.v1' }),
      letter(3, { direction: 'in', type: null }),
    ]);
    expect(await letters.drop(filter)).toBe(dropped);
  });

  it('needs a filter, or the word for all', async () => {
    const { letters, count } = await fleet(many(3));
    await expect(letters.drop({})).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await count()).toBe(3);
    expect(await letters.drop({}, { all: true })).toBe(3);
  });
});
