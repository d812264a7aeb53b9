import { describe, expect, it } from 'vitest';
import { afterCrash, afterLife, type Crashes, NO_CRASHES } from '../../../../src/core/autoscale/crashes.js';

describe('workers that end by themselves', () => {
  it('are started again after pauses that double, and a loop is told once', () => {
    let crashes: Crashes = NO_CRASHES;
    const seen = [];
    for (let n = 0; n < 8; n++) {
      const { crashes: next, news } = afterCrash(crashes, 10, 1000);
      crashes = next;
      seen.push([next.notBefore - 1000, news]);
    }
    expect(seen).toEqual([
      [500, 'first'],
      [1000, 'first'],
      [2000, 'loop'],
      [4000, 'known'],
      [8000, 'known'],
      [16_000, 'known'],
      [30_000, 'known'],
      [30_000, 'known'],
    ]);
  });

  it('begin a new row once one was healthy', () => {
    const looping: Crashes = { row: 7, notBefore: 5000 };
    expect(afterCrash(looping, 30_000, 9000).crashes).toEqual({ row: 1, notBefore: 9500 });
    expect(afterLife(looping, 29_999)).toBe(looping);
    expect(afterLife(looping, 30_000)).toBe(NO_CRASHES);
  });
});
