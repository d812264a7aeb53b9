import { describe, expect, it } from 'vitest';
import { builtInTools } from '../../../../src/core/registry/built-in.js';
import { schemaProblem, schemaProblems } from '../../../../src/core/registry/json-schema.js';
import type { JsonObject } from '../../../../src/core/registry/model.js';
import { builtInValidators } from '../../../../src/core/validators/built-in.js';

describe('the built-in tools', () => {
  it('are the built-in validators, all but the one that needs a scenario’s files', () => {
    const names = [...builtInValidators.keys()].filter((name) => name !== 'ansible');
    expect([...builtInTools.keys()]).toEqual(names.map((name) => `builtin/${name}`));
    expect([...builtInTools.values()].map(({ validator }) => validator)).toEqual(names);
  });

  it.each([...builtInTools.values()])('$name is read-only and has valid schemas', (tool) => {
    expect(tool).toMatchObject({
      source: 'builtin',
      capability: { read_only: true, writes: false },
      idempotent: true,
    });
    expect(schemaProblem(tool.input_schema)).toBeUndefined();
  });

  it.each<[string, JsonObject, string[]]>([
    ['pattern_match', { pattern: 'x', where: 'executed_commands', scope: 'tasks' }, []],
    ['pattern_match', { pattern: 'x', where: 'job_plan', scope: 'job' }, []],
    ['pattern_match', { pattern: 'x', where: 'job_plan', scope: 'tasks' }, ['VALUE_NOT_ALLOWED where']],
    ['pattern_match', { pattern: 'x', where: 'job_plan' }, ['VALUE_MISSING scope']],
    ['pattern_match', { pattern: '(', where: 'job_plan', scope: 'job' }, ['VALUE_INVALID pattern']],
    [
      'pattern_match',
      { patern: 'x', scope: 'job', where: 'x' },
      ['VALUE_MISSING pattern', 'VALUE_UNKNOWN patern', 'VALUE_NOT_ALLOWED where'],
    ],
    ['job_resolution_status', { pattern: 'success' }, []],
    ['job_resolution_status', { pattern: ' Success ', scope: 'job' }, []],
    ['job_resolution_status', { pattern: 'sucess' }, ['VALUE_NOT_ALLOWED pattern']],
    ['job_resolution_status', { pattern: 'success', scope: 'tasks' }, ['VALUE_NOT_ALLOWED scope']],
    ['ticket_status', { pattern: ' ' }, ['VALUE_INVALID pattern']],
    ['task_count', { min: 1 }, []],
    ['task_count', {}, ['VALUE_MISSING']],
    ['task_count', { max: -1 }, ['VALUE_INVALID max']],
  ])('%s with %j', (name, args, expected) => {
    const schema = builtInTools.get(`builtin/${name}`)?.input_schema ?? {};
    const told = schemaProblems(schema, args, '').map(({ code, path }) => `${code} ${path}`.trimEnd());
    expect(told.sort()).toEqual([...expected].sort());
  });
});
