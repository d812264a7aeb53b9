import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOffered, pauseMs, triesOf } from '../../../queues/postpone.js';

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

describe('a job that some living worker can run', () => {
  const two = { alive: 2, able: 1 };
  it.each([
    ['is offered to each of the others', [0, 1, 2, 3, 4, 5], two, [true, true, false, true, true, false]],
    ['is not where nobody can', [0, 1, 2], { alive: 2, able: 0 }, [false, false, false]],
    [
      'is offered to a few in a large fleet',
      [0, 7, 8, 9],
      { alive: 500, able: 1 },
      [true, true, false, true],
    ],
  ])('%s', (_name, looks, standing, offered) => {
    expect(looks.map((each) => isOffered(each, 1, standing, 0.99))).toEqual(offered);
  });

  it('is offered now and then only, when there are many', () => {
    expect(isOffered(0, 400, two, 0.009)).toBe(true);
    expect(isOffered(0, 400, two, 0.011)).toBe(false);
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
