import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CheckPlace,
  childrenOf,
  chunkLimits,
  MOST_CHILDREN,
  type Pack,
  type Packing,
  planPacks,
  splitPack,
  travelsAlone,
} from '../../../src/core/packing.js';

type Places = readonly (readonly CheckPlace[])[];
const times = (n: number, place: CheckPlace): CheckPlace[] => Array.from({ length: n }, () => place);

/** Every check that a pack's executor runs, as `evaluation/check`. */
function covered(pack: Pack, places: Places): string[] {
  const found: string[] = [];
  for (let position = pack.from; position < pack.to; position++) {
    const checks = places[position] ?? [];
    const { from, to } = pack.checks ?? { from: 0, to: checks.length };
    for (let n = from; n < to; n++) if (checks[n] === pack.queue) found.push(`${position}/${n}`);
  }
  return found;
}
const expected = (places: Places) =>
  places.flatMap((checks, e) => checks.flatMap((place, n) => (place === 'skip' ? [] : [`${e}/${n}`]))).sort();
const all = (packs: readonly Pack[], places: Places) => packs.flatMap((pack) => covered(pack, places)).sort();

/** Splits until nothing can be split any more. */
function shattered(pack: Pack, places: Places): Pack[] {
  const parts = splitPack(pack, places);
  return parts.length === 0 ? [pack] : parts.flatMap((part) => shattered(part, places));
}

const place = fc.constantFrom<CheckPlace>('pure', 'pure', 'pure', 'runner', 'skip');
/** As the submitter makes chunks: an evaluation with a runner check is alone, the others fit one flow. */
const chunk = fc.oneof(
  fc.array(place, { maxLength: 1500, size: 'max' }).map((checks) => [checks]),
  fc.array(fc.array(fc.constantFrom<CheckPlace>('pure', 'skip'), { maxLength: 8 }), { maxLength: 37 }),
);
const packing = fc.constantFrom<Packing>('auto', 'off');

describe('planPacks', () => {
  it.each([
    ['no evaluation', [], 'auto', []],
    ['nothing but skipped checks', [['skip', 'skip']], 'off', []],
    ['no rule at all', [[]], 'auto', []],
    ['pure checks share a job', [['pure'], ['skip', 'pure']], 'auto', [{ queue: 'pure', from: 0, to: 2 }]],
    [
      'one check a job when packing is off',
      [['pure', 'skip', 'pure']],
      'off',
      [
        { queue: 'pure', from: 0, to: 1, checks: { from: 0, to: 1 } },
        { queue: 'pure', from: 0, to: 1, checks: { from: 2, to: 3 } },
      ],
    ],
    [
      'a check with a runner travels alone on its queue',
      [['pure', 'runner']],
      'auto',
      [
        { queue: 'pure', from: 0, to: 1 },
        { queue: 'runner', from: 0, to: 1, checks: { from: 1, to: 2 } },
      ],
    ],
  ] as [string, CheckPlace[][], Packing, Pack[]][])('%s', (_name, places, how, packs) => {
    expect(planPacks(places, how)).toEqual(packs);
  });

  it('covers every check that is not skipped exactly once, in at most 300 jobs', () => {
    fc.assert(
      fc.property(chunk, packing, (places, how) => {
        const packs = planPacks(places, how);
        expect(all(packs, places)).toEqual(expected(places));
        expect(packs.length).toBeLessThanOrEqual(MOST_CHILDREN);
      }),
    );
  });

  it.each([
    ['pure', 'off', 299],
    ['pure', 'off', 301],
    ['pure', 'off', 100_000],
    ['pure', 'auto', 2001],
    ['pure', 'auto', 400_000],
    ['runner', 'auto', 100_000],
    ['runner', 'off', 599],
  ] as const)('keeps %s checks with packing %s within a flow at %d', (queue, how, n) => {
    const places = [times(n, queue)];
    const packs = planPacks(places, how);
    expect(packs.length).toBeLessThanOrEqual(MOST_CHILDREN);
    expect(all(packs, places)).toHaveLength(n);
  });
});

describe('a large evaluation', () => {
  it('travels in packs of a thousand checks, so that all workers take part', () => {
    const packs = planPacks([times(5500, 'pure')], 'auto');
    const sizes = packs.map(({ checks }) => (checks?.to ?? 0) - (checks?.from ?? 0));
    expect(sizes).toEqual([1000, 1000, 1000, 1000, 1000, 500]);
  });
});

describe('splitPack', () => {
  it('splits a pack into its evaluations, then each into its checks, and a check not at all', () => {
    const places: Places = [['pure', 'skip', 'pure'], ['skip'], ['pure']];
    const [whole] = planPacks(places, 'auto') as [Pack];
    const evaluations = splitPack(whole, places);
    expect(evaluations.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [2, 3],
    ]);
    const checks = splitPack(evaluations[0] as Pack, places);
    expect(checks.map((pack) => pack.checks)).toEqual([
      { from: 0, to: 1 },
      { from: 2, to: 3 },
    ]);
    for (const pack of checks) expect(splitPack(pack, places)).toEqual([]);
  });

  it('loses and doubles no check, ends at one check a pack, and adds at most 300 jobs a time', () => {
    fc.assert(
      fc.property(chunk, packing, (places, how) => {
        for (const pack of planPacks(places, how)) {
          const parts = splitPack(pack, places);
          expect(parts.length).toBeLessThanOrEqual(MOST_CHILDREN);
          const ends = shattered(pack, places);
          expect(all(ends, places)).toEqual(covered(pack, places).sort());
          for (const end of ends) expect(covered(end, places).length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('the size of chunks', () => {
  it.each([
    [undefined, 4, 64],
    [0, 4, 1],
    [1, 8, 1],
    [100, 2, 13],
    [100, 0, 25],
    [1_000_000, 8, 64],
  ])('of %s runs for %d workers is %d evaluations', (total, workers, evaluations) => {
    expect(chunkLimits(total, workers).evaluations).toBe(evaluations);
  });

  it.each([
    [['pure', 'skip', 'runner'], 'off', 2],
    [['pure', 'skip', 'runner'], 'auto', 1],
    [times(5000, 'pure'), 'off', 300],
    [times(10, 'pure'), 'auto', 1],
    [times(1000, 'pure'), 'auto', 50],
    [times(2001, 'pure'), 'auto', 300],
  ] as [CheckPlace[], Packing, number][])('children of %j with packing %s', (places, how, n) => {
    expect(childrenOf(places, how)).toBe(n);
  });

  it('gives an evaluation with a runner check a flow of its own', () => {
    expect(travelsAlone(['pure', 'runner'])).toBe(true);
    expect(travelsAlone(['pure', 'skip'])).toBe(false);
  });
});
