import { describe, expect, it } from 'vitest';
import { recordProblems } from '../../../src/core/run-problems.js';
import { runRecordSchema } from '../../../src/core/run-record.js';

function problems(record: unknown) {
  const parsed = runRecordSchema.safeParse(record);
  return parsed.success ? [] : recordProblems(parsed.error, record);
}

describe('recordProblems', () => {
  it.each([
    ['99999999999999999999999', '1e+23'],
    ['-99999999999999999999999', '-1e+23'],
    ['1e400', 'Infinity'],
    ['-1e400', '-Infinity'],
  ])('says that %s is too large a number', (number, found) => {
    const record = JSON.parse(`{"id":"a","tasks":[{"exit_codes":[${number}]}]}`);
    expect(problems(record)).toEqual([
      expect.objectContaining({
        path: 'tasks[0].exit_codes[0]',
        message: 'is a number too large to be exact',
        found,
      }),
    ]);
  });

  it.each([
    [{}, [{ path: 'id', message: 'is missing', allowed: ['text'] }]],
    [{ id: 5 }, [{ path: 'id', message: 'has the wrong type', found: '5', allowed: ['text'] }]],
    [{ id: '' }, [{ path: 'id', message: 'is empty', found: '""' }]],
    [
      { id: 'a', tasks: [{}, { commands: 'ls' }] },
      [{ path: 'tasks[1].commands', message: 'has the wrong type', found: '"ls"', allowed: ['a list'] }],
    ],
    [
      { id: 'a', job: { operational_rules: 5 } },
      [
        {
          path: 'job.operational_rules',
          message: 'has the wrong type',
          found: '5',
          allowed: ['text', 'a list'],
        },
      ],
    ],
    [
      { id: 'a', job: { operational_rules: ['x', 5] } },
      [{ path: 'job.operational_rules[1]', message: 'has the wrong type', found: '5', allowed: ['text'] }],
    ],
    [
      { id: 'a', tasks: [{ exit_codes: [1.5] }] },
      [
        {
          path: 'tasks[0].exit_codes[0]',
          message: 'has the wrong type',
          found: '1.5',
          allowed: ['a whole number'],
        },
      ],
    ],
    [null, [{ path: '', message: 'is not a run record', found: 'null', allowed: ['an object with an id'] }]],
    [[1], [{ path: '', message: 'is not a run record', found: '[1]', allowed: ['an object with an id'] }]],
  ])('says where, what was found and what is allowed: %j', (record, expected) => {
    expect(problems(record)).toEqual(expected);
  });

  it('names every place that is wrong at once', () => {
    expect(problems({ id: 1, case: 2, tasks: 'x' }).map(({ path }) => path)).toEqual(['id', 'case', 'tasks']);
  });

  it('caps a record that is wrong all over, and counts the rest', () => {
    const found = problems({ id: 'a', tasks: Array.from({ length: 50 }, () => 5) });
    expect(found).toHaveLength(21);
    expect(found.at(-1)?.message).toBe('has 30 more problems');
  });

  it('says how long an id may be', () => {
    expect(problems({ id: 'a'.repeat(513) })[0]?.message).toBe('is longer than 512 characters');
  });
});
