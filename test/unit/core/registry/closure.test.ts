import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../src/core/digest.js';
import {
  argumentsOf,
  inputSchemaOf,
  parseTool,
  resolveTool,
  runnerOf,
  sealTool,
  slotsOf,
  timeoutOf,
} from '../../../../src/core/registry/closure.js';
import { schemaProblems } from '../../../../src/core/registry/json-schema.js';
import type { CallableDocument } from '../../../../src/core/registry/model.js';
import { CODE, EMPTY, given, registryOf, TRANSFORM } from './build.js';

const SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer' } },
  required: ['path', 'limit'],
  additionalProperties: false,
};
const registry = registryOf([
  ...given(
    'tool',
    {
      name: 'scan',
      command: ['scan'],
      read_only: true,
      input_schema: SCHEMA,
      resource_slots: [{ name: 'repo' }],
      timeout: '5m',
    },
    { name: 'pure', code: CODE },
    { name: 'remote', mcp_server: 's', mcp_tool_name: 't', read_only: true },
  ),
  ...given(
    'validation',
    {
      name: 'inner',
      wraps: 'scan',
      transform: TRANSFORM,
      argument_mapping: { path: { from: 'file' } },
      timeout: '1m',
    },
    {
      name: 'outer',
      wraps: 'inner',
      transform: TRANSFORM,
      argument_mapping: { file: { from: 'name' }, limit: { value: 3 } },
    },
    { name: 'count', validator: 'task_count' },
    { name: 'judge', code: CODE, timeout: '3s' },
    { name: 'over', wraps: 'builtin/task_count', transform: TRANSFORM },
  ),
]);
const tool = (name: string) => resolveTool(registry, name);

describe('a resolved tool', () => {
  it('has itself first and what runs last', () => {
    expect(tool('outer').chain.map(({ name }) => name)).toEqual(['local/outer', 'local/inner', 'local/scan']);
    expect(tool('local/over').chain.map(({ name }) => name)).toEqual(['local/over', 'builtin/task_count']);
  });

  it('cannot be had of what is not registered', () => {
    expect(() => resolveTool(EMPTY, 'nothing')).toThrow('local/nothing cannot be resolved (unknown)');
  });

  it('is stored under the digest of its text, and read from it', () => {
    const { digest, json } = sealTool(tool('outer'));
    expect(digest).toBe(sha256(json));
    expect(parseTool(json)).toEqual(tool('outer'));
    expect(sealTool(parseTool(json))).toEqual({ digest, json });
  });

  it('has another version when something that it wraps has changed', () => {
    const changed = registryOf(
      given('tool', {
        name: 'scan',
        command: ['scan', '-v'],
        read_only: true,
        input_schema: SCHEMA,
        resource_slots: [{ name: 'repo' }],
        timeout: '5m',
      }),
      registry,
    );
    expect(sealTool(resolveTool(changed, 'outer')).digest).not.toBe(sealTool(tool('outer')).digest);
    expect(changed.entries.get('local/outer')).toEqual(registry.entries.get('local/outer'));
  });

  it.each(['[]', '{}', '{"chain":[]}', '{"chain":[{"kind":"skill"}]}', 'null'])(
    'is not read from %s',
    (json) => {
      expect(() => parseTool(json)).toThrow('not a resolved tool');
    },
  );
});

describe('wrapping passes on', () => {
  it('the arguments, through every mapping', () => {
    const schema = inputSchemaOf(tool('outer'));
    expect(schema).toMatchObject({ properties: { name: { type: 'string' } }, required: ['name'] });
    expect(schemaProblems(schema, { name: 'x' }, '')).toEqual([]);
    expect(schemaProblems(schema, { name: 1, path: 'x', limit: 4 }, '')).toMatchObject([
      { code: 'VALUE_TYPE', path: 'name' },
      { code: 'VALUE_UNKNOWN', path: 'path' },
      { code: 'VALUE_UNKNOWN', path: 'limit' },
    ]);
    expect([0, 1, 2].map((depth) => argumentsOf(tool('outer'), depth, { name: 'x' }))).toEqual([
      { name: 'x' },
      { file: 'x', limit: 3 },
      { path: 'x', limit: 3 },
    ]);
  });

  it('the schema itself where nothing is mapped', () => {
    expect(inputSchemaOf(tool('over'))).toBe(inputSchemaOf(resolveTool(registry, 'builtin/task_count')));
    expect(inputSchemaOf(tool('count'))).toEqual(inputSchemaOf(tool('over')));
    expect(inputSchemaOf(tool('pure'))).toEqual({ type: 'object', additionalProperties: false });
  });

  it('the resource slots', () => {
    expect(slotsOf(tool('outer'))).toEqual([{ name: 'repo', type: '*', required: true }]);
    expect(slotsOf(tool('pure'))).toEqual([]);
  });

  it.each([
    ['outer', 60_000],
    ['scan', 300_000],
    ['pure', 1_000],
    ['judge', 3_000],
    ['remote', 60_000],
    ['over', 60_000],
  ])('the timeout: %s has %i ms', (name, ms) => {
    expect(timeoutOf(tool(name))).toBe(ms);
  });

  it.each([
    ['outer', 'runner'],
    ['remote', 'runner'],
    ['pure', 'pure'],
    ['over', 'pure'],
    ['count', 'pure'],
  ])('where it runs: %s on %s', (name, runner) => {
    expect(runnerOf(tool(name))).toBe(runner);
  });

  it.each(['ansible', 'plugin/mine'])('where it runs: the validator %s on runner', (validator) => {
    const [counting] = tool('count').chain as [CallableDocument];
    expect(runnerOf({ chain: [{ ...counting, validator }] })).toBe('runner');
  });
});
