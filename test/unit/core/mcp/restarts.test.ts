import { expect, it } from 'vitest';
import { afterStart, noRestarts, pauseOf } from '../../../../src/core/mcp/restarts.js';

it('leaves a server alone for longer and longer when it fails to start, a minute at most', () => {
  let restarts = noRestarts;
  const pauses = Array.from({ length: 9 }, () => {
    restarts = afterStart(restarts, false, 1000);
    return pauseOf(restarts, 1000);
  });
  expect(pauses).toEqual([0, 0, 5000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  expect(pauseOf(restarts, 31_000)).toBe(30_000);
  expect(pauseOf(restarts, 99_000)).toBe(0);
});

it('counts from the beginning once it has started', () => {
  const twice = afterStart(afterStart(noRestarts, false, 0), false, 0);
  expect(pauseOf(afterStart(afterStart(twice, true, 0), false, 0), 0)).toBe(0);
});
