import { describe, expect, it } from 'vitest';
import {
  askAgainMs,
  hasLimits,
  type Limited,
  type LimitSetting,
  type LimitState,
  limitsOn,
  mayBegin,
  refilled,
} from '../../../src/core/limits.js';

const none = { projects: {}, validations: {}, scenarios: {} };
const settings = {
  projects: { shop: { concurrency: 2 }, '*': { concurrency: 5 } },
  validations: { 'local/slow': { rate: { count: 3, per: 1000 } } },
  scenarios: { disk: { concurrency: 1 } },
};

describe('limitsOn', () => {
  it.each<[string, Limited, string[]]>([
    [
      'a project and a validation that are named',
      { project: 'shop', validation: 'local/slow' },
      ['project:shop', 'validation:local/slow'],
    ],
    ['a project that is not named', { project: 'blog', validation: 'local/fast' }, ['project:blog']],
    ['a plan without a project', { project: null, validation: 'local/fast' }, []],
    ['a scenario', { scenario: 'disk' }, ['scenario:disk']],
    ['names of built-in properties', { scenario: 'toString', validation: 'constructor' }, []],
  ])('%s', (_name, check, names) => {
    expect(limitsOn(settings, check).map(({ name }) => name)).toEqual(names);
  });

  it('are none where nothing is set', () => {
    expect(hasLimits(none)).toBe(false);
    expect(hasLimits(settings)).toBe(true);
    expect(limitsOn(none, { project: 'shop', validation: 'a/b', scenario: 'c' })).toEqual([]);
  });
});

const INFINITE = Number.POSITIVE_INFINITY;
const rate = { count: 4, per: 1000 };

describe('a limit', () => {
  it.each<[string, LimitSetting, LimitState, boolean]>([
    ['has a place left', { concurrency: 2 }, { held: 1, tokens: INFINITE, ahead: 0 }, true],
    ['has none', { concurrency: 2 }, { held: 2, tokens: INFINITE, ahead: 0 }, false],
    [
      'keeps its last place for who asked earlier',
      { concurrency: 2 },
      { held: 1, tokens: INFINITE, ahead: 1 },
      false,
    ],
    ['has places for both', { concurrency: 3 }, { held: 1, tokens: INFINITE, ahead: 1 }, true],
    ['has used up its rate', { rate }, { held: 9, tokens: 0.9, ahead: 0 }, false],
    ['lets in by its rate', { rate }, { held: 9, tokens: 1, ahead: 0 }, true],
    ['holds by both', { rate, concurrency: 1 }, { held: 1, tokens: 4, ahead: 0 }, false],
  ])('%s', (_name, limit, state, may) => {
    expect(mayBegin(limit, state)).toBe(may);
  });

  it.each<[string, LimitSetting['rate'], number, number, number]>([
    ['fills up by time', rate, 1, 500, 3],
    ['fills up to its count', rate, 1, 5000, 4],
    ['does not shrink when clocks differ', rate, 1, -500, 1],
    ['is endless without a rate', undefined, 0, 0, INFINITE],
  ])('%s', (_name, given, tokens, elapsed, expected) => {
    expect(refilled(given, tokens, elapsed)).toBe(expected);
  });

  it.each<[string, LimitSetting, LimitState, number]>([
    ['soon by the first in line', { concurrency: 1 }, { held: 1, tokens: INFINITE, ahead: 0 }, 200],
    ['later by those behind', { concurrency: 1 }, { held: 1, tokens: INFINITE, ahead: 9 }, 1000],
    ['within a minute by all', { concurrency: 1 }, { held: 1, tokens: INFINITE, ahead: 9999 }, 60_000],
    ['when its rate lets it in', { rate }, { held: 0, tokens: 0, ahead: 1 }, 500],
  ])('is asked again %s', (_name, limit, state, ms) => {
    expect(askAgainMs(limit, state)).toBe(ms);
  });
});
