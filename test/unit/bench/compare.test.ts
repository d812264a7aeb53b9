import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { comparisonOf, differences, doubts } from '../../../bench/harness/compare.js';
import { keep, keptNames, type Results, readKept } from '../../../bench/harness/results.js';
import type { LineResult } from '../../../bench/harness/row.js';

const row = (name: string, ratio: number, more: Partial<LineResult> = {}): LineResult => ({
  row: name,
  what: '',
  unit: 'checks/s',
  figure: 'times as many',
  direction: 'at least',
  verdict: 'met',
  sluice: 100 * ratio,
  ratio,
  rounds: [],
  faults: [],
  notes: [],
  ...more,
});

const run = (at: string, rows: LineResult[], more: Partial<Results> = {}): Results => ({
  format: 1,
  at,
  size: 'full',
  seconds: 1,
  machine: { cpu: 'a', cores: 2, memory_gib: 4, kernel: '6', node: 'v20', redis: '7' },
  before: { load: [0, 0, 0], free_gib: 2, commit: 'abc' },
  rows,
  ...more,
});

describe('two results side by side', () => {
  it.each([
    ['more where more is wanted', row('a', 10), row('a', 12), 20, 'better'],
    ['less where more is wanted', row('a', 10), row('a', 8), -20, 'worse'],
    [
      'less where less is wanted',
      row('a', 2, { direction: 'at most' }),
      row('a', 1, { direction: 'at most' }),
      -50,
      'better',
    ],
    ['what chance may bring', row('a', 10), row('a', 10.5), 5, 'alike'],
  ])('%s', (_, before, after, ratio, tendency) => {
    expect(differences([before], [after])).toMatchObject([{ row: 'a', ratio, tendency }]);
  });

  it('has rows that one of them lacks, and those that were not run, without a change', () => {
    const { ratio: _, sluice: __, ...unmeasured } = row('c', 1);
    const found = differences(
      [row('a', 1), row('c', 1)],
      [row('b', 1), { ...unmeasured, verdict: 'not run' }],
    );
    expect(found.map(({ row: name, ratio }) => [name, ratio])).toEqual([
      ['a', undefined],
      ['c', undefined],
      ['b', undefined],
    ]);
  });

  it('warns of other machines, other sizes, and machines that were busy', () => {
    const a = run('1', []);
    const b = run('2', [], {
      size: 'quick',
      machine: { ...a.machine, cpu: 'b' },
      before: { ...a.before, load: [3, 0, 0] },
    });
    expect(doubts(a, a)).toEqual([]);
    expect(doubts(a, b).join('\n')).toMatch(
      /differ in cpu: a and b\n.*full and quick\n.*busy before the run of 2/,
    );
  });
});

describe('results that are kept', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-bench-results-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are read again, the oldest first, and not what else lies there', () => {
    const newer = keep(run('2026-02-01T00:00:00.000Z', [row('a', 2)], { size: 'quick' }), folder);
    const older = keep(run('2026-01-01T00:00:00.000Z', [row('a', 1)]), folder);
    writeFileSync(join(folder, '2025-01-01T00-00-00.json'), '{"rows":[]}');
    writeFileSync(join(folder, 'broken.json'), '{');
    expect(keptNames(folder)).toEqual([older, newer]);
    const text = comparisonOf(readKept(older, folder), readKept(join(folder, newer)));
    expect(text).toMatch(/^a .*\+100 %.*better$/m);
    expect(() => readKept('broken.json', folder)).toThrow('broken.json is no JSON.');
    expect(() => readKept('2025-01-01T00-00-00.json', folder)).toThrow('no result of this bench');
    expect(() => readKept('gone.json', folder)).toThrow('There is no result gone.json.');
  });
});
