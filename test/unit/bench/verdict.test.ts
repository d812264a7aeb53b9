import { describe, expect, it } from 'vitest';
import { allWell, type Line, type Measured, resultOf, verdictOf } from '../../../bench/harness/row.js';

const line = (bar: number | undefined, direction: Line['direction']): Line => ({
  row: 'a row',
  what: 'what it measures',
  unit: 'ms',
  figure: 'times as long',
  direction,
  ...(bar === undefined ? {} : { bar }),
});

const measured = (more: Partial<Measured>): Measured => ({
  sluice: 1,
  figure: 1,
  rounds: [],
  faults: [],
  ...more,
});

describe('the verdict over a row', () => {
  it.each([
    ['at least its bar', 'at least', 2, { figure: 2 }, 'met'],
    ['below a bar that it must reach', 'at least', 2, { figure: 1.99 }, 'missed'],
    ['at a bar that it must not pass', 'at most', 1.5, { figure: 1.5 }, 'met'],
    ['above such a bar', 'at most', 1.5, { figure: 1.51 }, 'missed'],
    ['without a bar', 'at least', undefined, { figure: 0.1 }, 'measured'],
    ['a peer that was too slow to compare', 'at least', 2, { figure: 3, invalid: 'busy' }, 'INVALID'],
    ['lost work, whatever the figure', 'at least', 2, { figure: 30, faults: ['run-1'] }, 'FAILED'],
    ['lost work without a bar', 'at least', undefined, { faults: ['run-1'] }, 'FAILED'],
    ['no figure at all', 'at most', 2, { figure: Number.NaN }, 'FAILED'],
  ] as const)('%s', (_, direction, bar, of, verdict) => {
    expect(verdictOf(line(bar, direction), measured(of as Partial<Measured>), true)).toBe(verdict);
  });

  it('judges no bar at sizes that mean nothing, but still finds what was lost', () => {
    expect(verdictOf(line(2, 'at least'), measured({ figure: 1 }), false)).toBe('measured');
    expect(verdictOf(line(2, 'at least'), measured({ faults: ['run-1'] }), false)).toBe('FAILED');
  });

  it('keeps why a figure proves nothing', () => {
    const result = resultOf(line(2, 'at least'), measured({ figure: 3, invalid: 'the peer was slow' }), true);
    expect(result).toMatchObject({ verdict: 'INVALID', notes: ['the peer was slow'] });
  });

  it.each([
    [['met', 'measured', 'not run'], true],
    [['met', 'missed'], false],
    [['met', 'FAILED'], false],
    [['INVALID'], false],
  ] as const)('%j as a whole: %s', (verdicts, well) => {
    expect(allWell(verdicts.map((verdict) => ({ verdict })))).toBe(well);
  });
});
