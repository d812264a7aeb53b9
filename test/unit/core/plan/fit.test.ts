import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOf, clipped, fits, fitting } from '../../../../src/core/plan/fit.js';

describe('what fits', () => {
  it('is what JSON takes, to the byte', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'small' }), (value) => {
        const bytes = bytesOf(value);
        expect([fits(value, bytes), fits(value, bytes - 1)]).toEqual([true, false]);
      }),
    );
    expect(fits({ a: undefined, b: 1 }, bytesOf({ b: 1 }))).toBe(true);
    expect(fits({ a: undefined }, 2)).toBe(true);
  });

  it('is found without a look at the rest', () => {
    let looked = 0;
    const item = {
      get text() {
        looked += 1;
        return 'x'.repeat(100);
      },
    };
    expect(
      fits(
        Array.from({ length: 1000 }, () => item),
        1000,
      ),
    ).toBe(false);
    expect(looked).toBeLessThan(20);
  });

  it('is nothing that is nested without end', () => {
    let deep: unknown = 1;
    for (let n = 0; n < 100_000; n += 1) deep = [deep];
    expect(fits(deep, 1_000_000)).toBe(false);
  });

  it('of a list is its beginning', () => {
    expect(fitting(['a', 'b', 'c'], 12)).toEqual({ items: ['a', 'b', 'c'], cut: false });
    expect(fitting(['a', 'b', 'c'], 11)).toEqual({ items: ['a', 'b'], cut: true });
  });

  it('of a text is cut on a character', () => {
    expect(clipped('abc', 3)).toBe('abc');
    expect(clipped('abcd', 3)).toBe('ab…');
    expect(clipped('a😀😀', 3)).toBe('a…');
  });
});
