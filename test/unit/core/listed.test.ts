import { describe, expect, it } from 'vitest';
import { listed } from '../../../src/core/listed.js';

describe('a list in words', () => {
  it.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b', 'c'], 'a, b, c'],
    [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
  ])('%j is %j', (items, words) => {
    expect(listed(items, String)).toBe(words);
  });

  it('is cut and put together as it is asked for', () => {
    const word = (n: number) => `#${n}`;
    expect(listed([1, 2, 3], word, { most: 1, between: '; ', last: '; ' })).toBe('#1; and 2 more');
  });
});
