import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runRecordSchema } from '../../../src/core/run-record.js';
import { IMPORTERS } from '../../../src/importers/built-in.js';

const shapes = fc.oneof(
  fc.jsonValue(),
  fc.record({ trajectory: fc.array(fc.jsonValue()), info: fc.jsonValue(), history: fc.jsonValue() }),
  fc.dictionary(
    fc.string(),
    fc.record({ query: fc.jsonValue(), turn_history: fc.jsonValue(), summary: fc.jsonValue() }),
  ),
  fc.array(
    fc.record({
      role: fc.constantFrom('user', 'assistant', 'tool', 5),
      content: fc.jsonValue(),
      extra: fc.jsonValue(),
    }),
  ),
);

describe.each(IMPORTERS.map((importer) => [importer.name, importer] as const))(
  'importer %s',
  (_name, importer) => {
    it('never throws, whatever it is given, and neither does the schema behind it', () => {
      fc.assert(
        fc.property(shapes, (value) => {
          importer.sniff(value);
          for (const { run } of importer.runs(value, 'stem')) {
            expect(typeof runRecordSchema.safeParse(run).success).toBe('boolean');
          }
        }),
      );
    });
  },
);
