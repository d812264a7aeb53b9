import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../../src/core/backoff.js';

const DAY = 86_400_000;

describe('backoffMs', () => {
  it.each([
    [1, 0, 300_000, undefined, 500],
    [1, 0.999999, 300_000, undefined, 1000],
    [4, 0, 300_000, undefined, 4000],
    [1000, 0.999999, 300_000, undefined, 300_000],
    [1, 0.5, 300_000, 60_000, 60_000],
    [12, 0.5, 300_000, 1, 225_000],
    [1, 0, 300_000, 10 * DAY, DAY],
    [3, 0.5, 200, undefined, 150],
  ])('try %d with jitter %d, at most %d and Retry-After %s waits %s ms', (n, jitter, longest, asked, ms) => {
    expect(backoffMs(n, jitter, longest, asked)).toBe(ms);
  });

  it('stays within half a second and the longest unless the receiver asks for more, and never shrinks', () => {
    const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const longest = fc.integer({ min: 1000, max: DAY });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000 }), jitter, longest, fc.nat(DAY), (n, j, most, asked) => {
        const ms = backoffMs(n, j, most, asked);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(Math.max(500, asked));
        expect(ms).toBeLessThanOrEqual(Math.max(most, asked));
        expect(backoffMs(n + 1, j, most, asked)).toBeGreaterThanOrEqual(ms);
      }),
    );
  });
});
