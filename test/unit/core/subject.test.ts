import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/json.js';
import { runRecordSchema } from '../../../src/core/run-record.js';
import { subjectOf } from '../../../src/core/subject.js';

const text = fc.option(fc.string(), { nil: undefined });
const texts = fc.option(fc.array(fc.string(), { maxLength: 3 }), { nil: undefined });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const run = fc.record({
  id: fc.string({ minLength: 1 }),
  target: maybe(
    fc.record({
      hosts: maybe(fc.string({ minLength: 1 })),
      vars: maybe(
        fc.dictionary(
          fc.string().filter((key) => key !== '__proto__'),
          fc.jsonValue({ maxDepth: 2 }),
          { noNullPrototype: true },
        ),
      ),
    }),
  ),
  job: maybe(
    fc.record({
      resolution_status: text,
      resolution: text,
      plan: text,
      operational_rules: fc.oneof(text, texts),
    }),
  ),
  tasks: maybe(
    fc.array(
      fc.record({
        id: text,
        description: text,
        commands: texts,
        exit_codes: maybe(fc.array(fc.option(fc.integer()), { maxLength: 2 })),
        summary: text,
        plan: text,
        messages: texts,
      }),
      { maxLength: 2 },
    ),
  ),
  ticket: maybe(fc.record({ status: text, messages: texts, summary: text })),
});

describe('the subject of a run', () => {
  it('is its evidence in canonical JSON, every field of it', () => {
    fc.assert(
      fc.property(run, (value) => {
        const record = runRecordSchema.parse(value);
        const { target, job, tasks, ticket } = record;
        expect(subjectOf(record).json).toBe(canonicalJson({ target, job, tasks, ticket }));
      }),
    );
  });

  it('knows every field of a run record that is evidence', () => {
    const keys = (schema: unknown): string[] =>
      Object.keys((schema as { shape: Record<string, unknown> }).shape).sort();
    expect(keys(runRecordSchema)).toEqual(['case', 'id', 'job', 'scenario', 'target', 'tasks', 'ticket']);
  });

  it('does not depend on what only names the run', () => {
    const job = { plan: 'p' };
    expect(subjectOf({ id: 'a', case: 'c', job })).toEqual(subjectOf({ id: 'b', scenario: 's', job }));
  });
});
