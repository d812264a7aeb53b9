import { describe, expect, it } from 'vitest';
import { type BatchOpening, isComplete, openingConflicts } from '../../../src/core/batch.js';

const opening: BatchOpening = {
  id: 'b',
  createdAt: 1,
  options: { strict: false, from: 'direct', informationalErrors: 'ignore' },
  scenarios: { nginx: 'd1', disk: 'd2' },
  retentionMs: 1000,
};

describe('openingConflicts', () => {
  it.each<[string, Partial<BatchOpening>, string[]]>([
    ['the same again', {}, []],
    ['later, and kept for longer', { createdAt: 9, retentionMs: 9 }, []],
    ['fewer scenarios', { scenarios: { disk: 'd2' } }, []],
    ['strict', { options: { ...opening.options, strict: true } }, ['strict was false, now true']],
    [
      'another entry and error policy',
      { options: { strict: false, from: 'gateway', informationalErrors: 'block' } },
      ['from was direct, now gateway', 'informationalErrors was ignore, now block'],
    ],
    [
      'a changed and a new scenario',
      { scenarios: { nginx: 'x', cpu: 'd3' } },
      ['scenario nginx has changed since', 'scenario cpu is not part of it'],
    ],
    [
      'a scenario named like a built-in',
      { scenarios: { toString: 'd' } },
      ['scenario toString is not part of it'],
    ],
  ])('%s', (_name, change, conflicts) => {
    expect(openingConflicts(opening, { ...opening, ...change })).toEqual(conflicts);
  });
});

describe('isComplete', () => {
  it.each([
    [null, 0, false],
    [null, 5, false],
    [5, 4, false],
    [5, 5, true],
    [0, 0, true],
  ])('total %s with %d decided: %s', (total, decided, complete) => {
    expect(isComplete({ total, decided })).toBe(complete);
  });
});
