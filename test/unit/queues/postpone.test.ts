import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pauseMs, triesOf } from '../../../queues/postpone.js';

describe('the pause before another worker looks at a job', () => {
  it.each([
    ['is a second at first', 0, 1, false, 1000],
    ['grows', 2, 1, false, 4000],
    ['up to 15 seconds', 9, 1, false, 15_000],
    ['stays there, however often', 1_000_000, 1, false, 15_000],
    ['is short where a living worker has the runner', 9, 1, true, 3000],
    ['grows with the crowd, so that nobody is busy with looking', 0, 1000, true, 20_000],
    ['up to a minute', 0, 1_000_000, false, 60_000],
  ])('%s', (_name, looks, waiting, isServed, middle) => {
    expect(pauseMs(looks, waiting, isServed, 0.5)).toBe(middle);
  });

  it('is spread by a quarter to either side', () => {
    fc.assert(
      fc.property(
        fc.nat(50),
        fc.nat(10_000),
        fc.boolean(),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (...given) => {
          const [looks, waiting, isServed] = given;
          const middle = pauseMs(looks, waiting, isServed, 0.5);
          expect(Math.abs(pauseMs(...given) - middle)).toBeLessThanOrEqual(middle / 4 + 1);
        },
      ),
    );
  });
});

describe('the tries of a check', () => {
  it.each([
    ['its runs', 3, undefined, 3],
    ['no looks in vain', 7, 6, 1],
    ['runs after them', 8, 6, 2],
    ['at least the one that goes on', 1, 1, 1],
  ])('count %s', (_name, attemptsStarted, looks, tries) => {
    expect(triesOf({ attemptsStarted }, { looks })).toBe(tries);
  });
});
