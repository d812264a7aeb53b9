import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idFrom } from '../../../src/core/digest.js';
import {
  behind,
  compareIds,
  covers,
  cursorsOf,
  hasRead,
  isPosition,
  placeOf,
  positionOf,
} from '../../../src/core/positions.js';
import { MOST_SHARDS, planEvaluationId, shardOf, shardOfPlan } from '../../../src/core/shards.js';

const shards = fc.integer({ min: 1, max: MOST_SHARDS });
const id = fc.string({ maxLength: 30 });

describe('the shard of an id', () => {
  it('is one that there is, and always the same', () => {
    fc.assert(
      fc.property(id, shards, (text, n) => {
        const shard = shardOf(text, n);
        expect(shard).toBeGreaterThanOrEqual(0);
        expect(shard).toBeLessThan(n);
        expect(shardOf(text, n)).toBe(shard);
      }),
    );
  });

  it('is that of its plan for every evaluation of a plan, whatever the number of shards', () => {
    fc.assert(
      fc.property(id, id, shards, (plan, part, n) => {
        const evaluation = planEvaluationId(plan, part);
        expect(evaluation).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
        expect(shardOf(evaluation, n)).toBe(shardOfPlan(plan, n));
      }),
    );
  });

  it.each([2, 3, 7, 16, 64])('spreads ids evenly over %i shards', (n) => {
    const counts = Array.from({ length: n }, () => 0);
    const ids = 400 * n;
    for (let i = 0; i < ids; i += 1) {
      const shard = shardOf(idFrom('evaluation', 'b', 's', `run-${i}`), n);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    // Five standard deviations around 400 for each.
    expect(Math.min(...counts)).toBeGreaterThan(300);
    expect(Math.max(...counts)).toBeLessThan(500);
  });
});

const streamId = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 3 }))
  .map(([time, sequence]) => `${time}-${sequence}`);
const ids = (n: number) => fc.array(fc.oneof(fc.constant(''), streamId), { minLength: n, maxLength: n });

describe('a position over several shards', () => {
  it('is read again as it was written, by who has as many shards or more', () => {
    fc.assert(
      fc.property(ids(3), fc.integer({ min: 0, max: 2 }), (read, shard) => {
        const position = positionOf(shard, read);
        expect(isPosition(position)).toBe(true);
        expect(cursorsOf(position, 3)).toEqual(read);
        expect(cursorsOf(position, 5)).toEqual([...read, '', '']);
        expect(placeOf(position)).toEqual({ shard, id: read[shard] || '0-0' });
      }),
    );
  });

  it('goes on in the home where it is of a time with one shard', () => {
    expect(cursorsOf('5-1', 3)).toEqual(['5-1', '', '']);
    expect(placeOf('2/5-1')).toEqual({ shard: 2, id: '5-1' });
    expect(covers('2/9-0,0-0,1-0', '5-1')).toBe(true);
  });

  it('covers another exactly when it has read every entry that this one has', () => {
    fc.assert(
      fc.property(ids(3), ids(3), (one, other) => {
        const every = one.every((read, n) => compareIds(read, other[n] ?? '') >= 0);
        expect(covers(positionOf(0, one), positionOf(1, other))).toBe(every);
      }),
    );
  });

  it('never goes back, whoever read the entries before in whatever order', () => {
    fc.assert(
      fc.property(ids(3), ids(3), fc.integer({ min: 0, max: 2 }), (one, other, shard) => {
        const entry = positionOf(shard, other);
        const cursor = positionOf(0, one);
        const next = behind(cursor, entry);
        expect(covers(next, cursor)).toBe(true);
        expect(covers(next, entry)).toBe(true);
        expect(hasRead(next, entry)).toBe(true);
        expect(hasRead(cursor, entry)).toBe(compareIds(one[shard] ?? '', other[shard] ?? '') >= 0);
      }),
    );
  });

  it.each(['', 'x', '5', '5-1,6-1', '3/1-0,2-0', '99/1-0', '0/1-0,x', '1/', '-1/1-0', '0/1-0/2-0'])(
    'is not %j',
    (text) => {
      expect(isPosition(text)).toBe(false);
    },
  );
});
