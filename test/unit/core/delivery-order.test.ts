import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANES, laneOf, pagesOf, roundsOf, subjectOf } from '../../../src/core/delivery-order.js';

describe('order of delivery', () => {
  it.each([
    ['{"id":"e","subject":"plan-1"}', 'plan-1'],
    ['{"id":"e"}', 'e'],
    ['{"id":"e","subject":7}', 'e'],
    ['rubbish', 'e'],
  ])('takes the subject of %s for %s', (json, subject) => {
    expect(subjectOf({ id: 'e', type: 't', json })).toBe(subject);
  });

  it('keeps the lanes of subjects over releases: there are 8, and each subject has its own', () => {
    expect(LANES).toBe(8);
    expect(['a', 'b', 'c', 'd', 'plan-1'].map(laneOf)).toEqual([2, 6, 3, 3, 1]);
    fc.assert(fc.property(fc.string(), (subject) => laneOf(subject) >= 0 && laneOf(subject) < LANES));
  });

  it('makes pages of a size at most, and loses nothing', () => {
    expect(pagesOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(pagesOf([], 2)).toEqual([]);
  });

  it('makes one round where order is of no matter', () => {
    expect(roundsOf(['a1', 'a2'], undefined)).toEqual([['a1', 'a2']]);
    expect(roundsOf([], undefined)).toEqual([]);
  });

  it('makes rounds with one of each subject, in the order of each', () => {
    const letter = (item: string) => item.slice(0, 1);
    expect(roundsOf(['a1', 'b1', 'a2', 'c1', 'a3', 'b2'], letter)).toEqual([
      ['a1', 'b1', 'c1'],
      ['a2', 'b2'],
      ['a3'],
    ]);
    expect(roundsOf([], letter)).toEqual([]);
  });
});
