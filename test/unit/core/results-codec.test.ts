import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CheckResult, OUTCOMES } from '../../../src/core/result.js';
import { packRows, TextTable, unpackRows } from '../../../src/core/results-codec.js';
import { settleResults } from '../../../src/core/settle.js';
import { DIRECT, scenarioWith } from './build.js';

const result: fc.Arbitrary<CheckResult> = fc.record({
  outcome: fc.constantFrom(...OUTCOMES),
  message: fc.string(),
  data: fc.dictionary(
    fc.string().filter((key) => key !== '__proto__'),
    fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value))),
    { noNullPrototype: true },
  ),
  duration_ms: fc.integer({ min: 0, max: 1e9 }).map((n) => n / 1000),
  tries: fc.nat(),
  worker: fc.option(fc.constantFrom('a', 'b', 'c-1')),
  read_only: fc.constantFrom('enforced', 'declared'),
});

describe('packed results', () => {
  it('come back from JSON as they were, gaps included', () => {
    fc.assert(
      fc.property(fc.array(fc.option(result, { nil: undefined })), (results) => {
        const table = new TextTable();
        const rows = packRows(table, results);
        const packed = JSON.parse(JSON.stringify({ texts: table.texts, rows }));
        expect(unpackRows(packed.texts, packed.rows)).toEqual(results);
      }),
    );
  });

  it('keep each text once, over all evaluations of a table', () => {
    const one = { outcome: 'pass', message: 'm', data: {}, duration_ms: 0, tries: 1 } as const;
    const results = ['a', 'b', 'a'].map((worker) => ({ ...one, worker, read_only: 'enforced' as const }));
    const table = new TextTable();
    packRows(table, results);
    packRows(table, results);
    expect(table.texts).toEqual(['m', 'a', 'b']);
  });

  it('are never a pass, and never an exception, when they are malformed', () => {
    const scenario = scenarioWith({ job: [{ label: 'l', validator: 'task_count', min: 1 }] });
    const anything = fc.oneof(fc.anything(), fc.array(fc.anything()), fc.array(fc.array(fc.anything())));
    fc.assert(
      fc.property(fc.anything(), anything, (texts, packed) => {
        const rows = unpackRows(texts, packed);
        const [settled] = settleResults(scenario, DIRECT, rows);
        expect(settled?.outcome).toBe('error');
      }),
    );
  });

  it.each([
    ['an outcome that is no number', ['0', 0, {}, 0, 1, -1, 1]],
    ['an outcome in a list', [[0], 0, {}, 0, 1, -1, 1]],
    ['an outcome that does not exist', [9, 0, {}, 0, 1, -1, 1]],
    ['no message', [0, undefined, {}, 0, 1, -1, 1]],
    ['data that is no object', [0, 0, 'x', 0, 1, -1, 1]],
    ['a skipped check that should have run', [3, 0, {}, 0, 1, -1, 1]],
    ['negative time', [0, 0, {}, -1, 1, -1, 1]],
    ['a message that is not in the table', [0, 7, {}, 0, 1, -1, 1]],
    ['a message that is no number', [0, 'w', {}, 0, 1, -1, 1]],
    ['nothing', []],
  ])('%s is an error', (_name, row) => {
    const scenario = scenarioWith({ job: [{ label: 'l', validator: 'task_count', min: 1 }] });
    const [settled] = settleResults(scenario, DIRECT, unpackRows(['w'], [row]));
    expect(settled?.outcome).toBe('error');
  });
});
