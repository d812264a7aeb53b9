import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { evaluationPage } from '../../src/app/batch-pages.js';
import { EvaluationReader } from '../../src/app/read.js';
import type { Store } from '../../src/ports/store.js';
import { chunkOf, decisionOf, event, openingOf, sealed } from '../support/evidence.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { storeAdapters } from '../support/stores.js';

const NOW = 1_700_000_000_000;
let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis?.stop());

const scenario = sealed('s', { job: [{ label: 'few', validator: 'task_count', max: 3 }] });

describe.each(storeAdapters(() => redis, 10_000))('pages of a batch on $name', ({ open }) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
    await store.batches.openBatch(openingOf('b', [scenario]));
  });
  afterEach(() => store.close());

  /** A chunk with evaluations at these places of the input; those in `decided` are. */
  async function chunk(name: string, indexes: readonly number[], decided: readonly number[] = indexes) {
    const made = chunkOf('b', name, indexes.length, { scenario: scenario.digest });
    made.evaluations.forEach((entry, n) => {
      entry.index = indexes[n] as number;
    });
    await store.evaluations.accept(made, [], [event(`${name}-accepted`)], NOW, NOW + 3_600_000);
    await decide(
      made,
      indexes.flatMap((index, n) => (decided.includes(index) ? [n] : [])),
    );
    return made;
  }

  async function decide(made: Awaited<ReturnType<typeof chunk>>, positions: readonly number[]) {
    if (positions.length === 0) return;
    const decisions = positions.map((position) => ({
      ...decisionOf(made, position, 'passed'),
      json: JSON.stringify({ scenarioKey: 's', passed: true, score: {}, gates: {} }),
    }));
    await store.evaluations.commit(made, `${positions}`, '{"texts":[],"rows":{}}', decisions, NOW, 3_600_000);
  }

  async function allPages(limit: number): Promise<number[][]> {
    const reader = { ofChunk: (id: string) => ids(id) } as unknown as EvaluationReader;
    const pages: number[][] = [];
    let cursor: string | undefined;
    do {
      const page = await evaluationPage(store, reader, 'b', cursor, limit);
      pages.push(page.evaluations.map(({ index }) => index));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return pages;
  }

  /** What is decided of a chunk, as the reader gives it, without its results. */
  async function ids(id: string) {
    const record = await store.evaluations.chunk(id);
    const decided = await store.evaluations.decisions(id);
    return decided.map(({ position }) => record?.chunk.evaluations[position]);
  }

  it('stand in input order, however chunks overlap, with no evaluation twice and none missing', async () => {
    const lone = Array.from({ length: 40 }, (_, n) => n).filter((n) => n % 4 !== 0);
    await chunk(
      'wide',
      Array.from({ length: 10 }, (_, n) => n * 4),
    );
    for (const n of lone) await chunk(`lone${n}`, [n]);
    await chunk('last', [40, 41, 42]);
    for (const limit of [1, 3, 7, 43, 100]) {
      const pages = await allPages(limit);
      expect(pages.flat()).toEqual(Array.from({ length: 43 }, (_, n) => n));
      for (const page of pages.slice(0, -1)) expect(page.length).toBe(limit);
    }
  });

  it('tell evaluations of the same place one after the other', async () => {
    await chunk('a', [0, 1, 2]);
    await chunk('b', [0, 1, 2]);
    expect((await allPages(2)).flat()).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it('miss nothing where more chunks overlap than a cursor can name', async () => {
    for (let n = 0; n < 70; n += 1) await chunk(`part${n}`, [0, 1]);
    const pages = await allPages(50);
    expect(pages.flat()).toEqual([...Array(70).fill(0), ...Array(70).fill(1)]);
  });

  it('pass over what is not decided yet, and hold it once it is', async () => {
    await chunk('a', [0, 1], [1]);
    const open = await chunk('b', [2, 3], []);
    await chunk('c', [4, 5]);
    expect((await allPages(2)).flat()).toEqual([1, 4, 5]);
    await decide(open, [0, 1]);
    expect((await allPages(2)).flat()).toEqual([1, 2, 3, 4, 5]);
  });

  it('are one empty page where there is nothing', async () => {
    expect(await allPages(5)).toEqual([[]]);
  });

  it.each(['abc', '', Buffer.from('{"t":[1],"o":[]}').toString('base64url'), 'é'])(
    'refuse %j as a cursor',
    async (cursor) => {
      await expect(evaluationPage(store, new EvaluationReader(store), 'b', cursor, 5)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        problems: [{ path: 'cursor' }],
      });
    },
  );
});
