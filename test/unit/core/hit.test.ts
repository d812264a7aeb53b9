import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HitData } from '../../../src/core/hit.js';
import type { CheckResult } from '../../../src/core/result.js';
import { packRows, TextTable, unpackRows } from '../../../src/core/results-codec.js';

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const fields = fc.record({
  where: fc.string(),
  task: optional(fc.string()),
  command: optional(fc.nat()),
  exitCode: optional(fc.integer()),
  engine: optional(fc.constant('backtracking')),
});
const cut = fc.record({ text: fc.string({ unit: 'binary' }), before: fc.boolean(), behind: fc.boolean() });
const resultOf = (data: CheckResult['data']): CheckResult => ({
  outcome: 'pass',
  message: 'm',
  data,
  duration_ms: 1,
  tries: 1,
  worker: null,
  read_only: 'enforced',
});

describe('the data of a hit', () => {
  it('comes back from what is stored as it was, its keys in the same order', () => {
    fc.assert(
      fc.property(fields, cut, (about, around) => {
        const data = new HitData(about, around);
        const table = new TextTable();
        const rows = JSON.parse(JSON.stringify(packRows(table, [resultOf(data)])));
        const [back] = unpackRows(table.texts, rows) as CheckResult[];
        expect(JSON.stringify(back?.data)).toBe(JSON.stringify(data));
      }),
    );
  });

  it('is stored without a character that its text has not', () => {
    const data = new HitData({ where: 'w', task: 't' }, { text: 'plain', before: true, behind: true });
    const [row] = packRows(new TextTable(), [resultOf(data)]);
    expect(data.excerpt).toBe('…plain…');
    expect(JSON.stringify(row)).toMatch(/^[ -~]*$/);
  });

  it.each([[[]], [['w', 1, 3, null, null, null, null]], [['w', 'x', 3]]])(
    'is not made of %j, which settling finds malformed',
    (packed) => expect(HitData.unpack(packed)).toBe(packed),
  );
});
