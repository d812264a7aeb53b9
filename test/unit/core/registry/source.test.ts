import { describe, expect, it } from 'vitest';
import { CODE, given, problemsOf, refusals, registryOf, TRANSFORM } from './build.js';

const SOURCES: [string, Record<string, unknown>][] = [
  ['builtin', { validator: 'task_count' }],
  ['builtin', { validator: 'ansible', playbook: 'p.yml', files: { 'p.yml': '[]' }, network: true }],
  ['builtin', { validator: 'plugin/house-rules', input_schema: { type: 'object' } }],
  ['command', { command: ['x'], files: { 'check.sh': 'true' }, read_only: true }],
  ['command', { command: ['x'], read_only: true }],
  ['code', { code: CODE }],
  ['mcp', { mcp_server: 's', mcp_tool_name: 't', annotations: { readOnlyHint: true } }],
  [
    'graph',
    {
      graph: {
        nodes: { a: { tool: 'builtin/task_count', arguments: { max: { value: 3 } } } },
        output: { from: '/nodes/a' },
      },
    },
  ],
];

describe('the source', () => {
  it.each(SOURCES)('%s is evident from the fields, and may be declared', (source, fields) => {
    for (const kind of ['tool', 'validation'] as const)
      for (const declared of [{}, { source }]) {
        const registry = registryOf(given(kind, { name: 't', ...fields, ...declared }));
        expect(registry.entries.get('local/t')?.document).toMatchObject({ source });
      }
  });

  it('wrapped is evident from wraps, in a validation alone', () => {
    const wrapping = { name: 't', wraps: 'builtin/task_count', transform: TRANSFORM };
    expect(registryOf(given('validation', wrapping)).entries.get('local/t')?.document).toMatchObject({
      source: 'wrapped',
    });
    expect(refusals(given('tool', { ...wrapping, source: 'wrapped' }))).toEqual([
      'FOREIGN_FIELD wraps',
      'FOREIGN_FIELD transform',
      'FOREIGN_FIELD source',
    ]);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['nothing runs', {}, ['SOURCE_MISSING']],
    ['two things run', { code: CODE, command: ['x'] }, ['SOURCE_CONFLICT']],
    ['code has a transform', { code: CODE, transform: TRANSFORM }, ['SOURCE_CONFLICT']],
    [
      'another one is declared',
      { source: 'command', code: CODE },
      ['MISSING_FIELD command', 'FOREIGN_FIELD code'],
    ],
    ['none of that name is there', { source: 'cod', code: CODE }, ['NOT_ALLOWED source']],
    ['none of that name is there and nothing runs', { source: 'cod' }, ['NOT_ALLOWED source']],
    ['an MCP tool has no name', { mcp_server: 's', read_only: true }, ['MISSING_FIELD mcp_tool_name']],
    [
      'annotations stand alone',
      { annotations: { readOnlyHint: true } },
      ['MISSING_FIELD mcp_server', 'MISSING_FIELD mcp_tool_name'],
    ],
    ['a command is empty', { command: [] }, ['BAD_VALUE command']],
    ['a command has a NUL character', { command: ['a\u0000'] }, ['BAD_VALUE command[0]']],
    ['a validator is unknown', { validator: 'task_cont' }, ['UNKNOWN_VALIDATOR validator']],
    [
      'a playbook and its files are missing',
      { validator: 'ansible' },
      ['MISSING_FIELD playbook', 'MISSING_FIELD files'],
    ],
    [
      'a playbook belongs to another validator',
      { validator: 'task_count', playbook: 'p.yml', files: { 'p.yml': '' } },
      ['FOREIGN_FIELD playbook', 'FOREIGN_FIELD files'],
    ],
    ['a playbook stands alone', { playbook: 'p.yml' }, ['MISSING_FIELD validator']],
    ['files stand alone', { files: { a: '' } }, ['SOURCE_MISSING']],
    ['code has files', { code: CODE, files: { a: '' } }, ['FOREIGN_FIELD files']],
    ['a shell has no script', { shell: true }, ['MISSING_FIELD command']],
    [
      'code has fields of a command',
      { source: 'code', code: CODE, env: {}, output: 'json' },
      ['FOREIGN_FIELD env', 'FOREIGN_FIELD output'],
    ],
    ['a plugin has no name', { validator: 'plugin/' }, ['BAD_VALUE validator']],
    [
      'a validator has arguments of its own',
      { validator: 'task_count', input_schema: {} },
      ['INHERITED_FIELD input_schema'],
    ],
    ['a transform has nothing to wrap', { transform: TRANSFORM }, ['MISSING_FIELD wraps']],
    [
      'a mapping has nothing to wrap',
      { argument_mapping: {} },
      ['MISSING_FIELD wraps', 'TRANSFORM_MISSING transform'],
    ],
  ])('is refused when %s', (_, fields, expected) => {
    expect(refusals(given('validation', { name: 't', ...fields }))).toEqual(expected);
  });

  it('is asked for with the fields that would say it', () => {
    expect(problemsOf(given('tool', { name: 't' }))).toEqual([
      {
        code: 'SOURCE_MISSING',
        path: '',
        message: 'nothing says what runs: one of these fields is needed',
        allowed: ['validator', 'command', 'code', 'mcp_server', 'graph'],
      },
    ]);
  });
});
