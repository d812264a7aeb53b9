import { describe, expect, it } from 'vitest';
import { resolveTool } from '../../../../src/core/registry/closure.js';
import { CODE, given, problemsOf, refusals, registryOf, TRANSFORM } from './build.js';

const SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer', minimum: 1 } },
  required: ['path'],
  additionalProperties: false,
};
const tool = (more: Record<string, unknown> = {}) => ({ kind: 'tool', name: 't', code: CODE, ...more });
const wrap = (name: string, wraps: string, more: Record<string, unknown> = {}) => ({
  kind: 'validation',
  name,
  wraps,
  transform: TRANSFORM,
  ...more,
});
const all = (...documents: unknown[]) => given('tool', ...documents);

describe('wrapping', () => {
  it('needs a transform', () => {
    expect(refusals(all(tool(), wrap('v', 't', { transform: undefined })))).toEqual([
      'TRANSFORM_MISSING transform',
    ]);
  });

  it('of a tool with two required resource slots is refused, since no attachment could fill them', () => {
    const slots = (required: boolean) => [{ name: 'a' }, { name: 'b', required }];
    expect(refusals(all(tool({ resource_slots: slots(true) })))).toEqual([]);
    expect(refusals(all(tool({ resource_slots: slots(false) }), wrap('v', 't')))).toEqual([]);
    expect(problemsOf(all(tool({ resource_slots: slots(true) }), wrap('v', 't')))).toMatchObject([
      { code: 'TOO_MANY_REQUIRED', path: 'wraps', message: expect.stringContaining('a, b') },
    ]);
    const before = registryOf(all(tool({ resource_slots: slots(false) }), wrap('v', 't')));
    expect(refusals(all(tool({ resource_slots: slots(true) })), before)).toEqual(['BREAKS_WRAPPER']);
  });

  it('works for several validations of one tool, in any order of the documents', () => {
    const registry = registryOf(
      all(wrap('b', 't'), wrap('a', 'local/t'), tool(), wrap('c', 'builtin/task_count')),
    );
    expect([...registry.entries.keys()].sort()).toEqual(['local/a', 'local/b', 'local/c', 'local/t']);
  });

  it('never proposes the validation itself', () => {
    expect(problemsOf(all(wrap('w2', 'w1')))[0]).not.toHaveProperty('nearest');
  });

  it('names the nearest tool for one that is not there', () => {
    expect(problemsOf(all(tool({ name: 'coverage' }), wrap('v', 'covrage')))).toMatchObject([
      { code: 'WRAPS_UNKNOWN', path: 'wraps', found: 'local/covrage', nearest: 'local/coverage' },
    ]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['writes', { writes: true }],
    ['is a command without a declaration', { code: undefined, command: ['x'] }],
    ['is not read-only', { read_only: false, writes: false }],
    ['is of MCP, without annotations', { code: undefined, mcp_server: 's', mcp_tool_name: 't' }],
    [
      'is of MCP and writes by the protocol’s defaults',
      { code: undefined, mcp_server: 's', mcp_tool_name: 't', annotations: { title: 'x' } },
    ],
  ])('is refused for a tool that %s, and the way out is told', (_, more) => {
    const problems = problemsOf(all(tool(more), wrap('v', 't')));
    expect(problems).toMatchObject([{ code: 'WRAPS_WRITING', path: 'wraps', found: 'local/t' }]);
    expect(problems[0]?.message).toContain('read_only: true');
  });

  it('of a command that is declared read-only is accepted', () => {
    expect(refusals(all(tool({ code: undefined, command: ['x'], read_only: true }), wrap('v', 't')))).toEqual(
      [],
    );
  });

  it('of a skill is refused', () => {
    const skill = { kind: 'skill', name: 's', tools: ['t'] };
    expect(problemsOf(all(tool(), skill, wrap('v', 's')))).toMatchObject([
      { code: 'WRAPS_UNKNOWN', message: 'is a skill; only tools and validations can be wrapped' },
    ]);
  });

  it('of a refused document is not refused for that as well', () => {
    expect(refusals(all(tool({ timeout: 'x' }), wrap('v', 't'), wrap('w', 'v')))).toEqual([
      'BAD_TIMEOUT timeout',
    ]);
    const deep = { name: 'd', code: CODE, input_schema: { not: Number } };
    expect(refusals(all(deep, wrap('v', 'd')))).toEqual(['NOT_JSON input_schema.not']);
  });

  it('goes ten deep and no deeper', () => {
    const chain = (depth: number) => [
      tool(),
      ...Array.from({ length: depth }, (_, n) => wrap(`v${n + 1}`, n === 0 ? 't' : `v${n}`)),
    ];
    const registry = registryOf(all(...chain(10)));
    expect(resolveTool(registry, 'v10').chain).toHaveLength(11);
    expect(problemsOf(all(...chain(11)))).toMatchObject([
      { code: 'WRAPS_TOO_DEEP', path: 'wraps', message: 'wraps more than 10 deep' },
    ]);
    expect(refusals(all(wrap('v11', 'v10')), registry)).toEqual(['WRAPS_TOO_DEEP wraps']);
  });

  it('around a chain that is then put on more is refused for what would become too deep', () => {
    const chain = Array.from({ length: 10 }, (_, n) => wrap(`v${n + 1}`, n === 0 ? 't' : `v${n}`));
    const registry = registryOf(all(tool(), wrap('u', 't'), ...chain));
    expect(problemsOf(all(wrap('v1', 'u')), registry)).toMatchObject([
      {
        code: 'BREAKS_WRAPPER',
        message: 'would break local/v10, which wraps it: it wraps more than 10 deep',
      },
    ]);
  });

  it('of itself is refused, directly and on the way', () => {
    expect(problemsOf(all(wrap('v', 'v')))).toMatchObject([
      { code: 'WRAPS_CYCLE', path: 'wraps', message: 'would wrap itself', found: 'local/v > local/v' },
    ]);
    expect(refusals(all(wrap('a', 'b'), wrap('b', 'c'), wrap('c', 'a')))).toEqual([
      'WRAPS_CYCLE wraps',
      'WRAPS_CYCLE wraps',
      'WRAPS_CYCLE wraps',
    ]);
  });

  it('into a circle over what stands is refused', () => {
    const registry = registryOf(all(tool(), wrap('a', 't'), wrap('b', 'a')));
    expect(problemsOf(all(wrap('a', 'b')), registry)).toMatchObject([
      { code: 'WRAPS_CYCLE', found: 'local/a > local/b > local/a' },
    ]);
  });

  it.each(['input_schema', 'resource_slots'])('inherits %s, which cannot be given', (field) => {
    const value = field === 'input_schema' ? {} : [];
    expect(refusals(all(tool(), wrap('v', 't', { [field]: value })))).toEqual([`INHERITED_FIELD ${field}`]);
  });

  it('inherits the network, which cannot be declared', () => {
    expect(refusals(all(tool(), wrap('v', 't', { network: true })))).toEqual(['INHERITED_FIELD network']);
  });

  it('may shorten the timeout and never lengthen it', () => {
    const slow = tool({ code: undefined, command: ['x'], read_only: true, timeout: '5m' });
    expect(refusals(all(slow, wrap('v', 't', { timeout: '5m' }), wrap('w', 'v', { timeout: '4m' })))).toEqual(
      [],
    );
    expect(
      problemsOf(all(slow, wrap('v', 't', { timeout: '4m' }), wrap('w', 'v', { timeout: '5m' }))),
    ).toMatchObject([
      {
        code: 'TIMEOUT_TOO_LONG',
        path: 'timeout',
        found: '5m',
        message: 'is longer than that of local/v, 4m; wrapping can only shorten it',
      },
    ]);
    expect(refusals(all(tool(), wrap('v', 't', { timeout: '2s' })))).toEqual(['TIMEOUT_TOO_LONG timeout']);
  });
});

describe('a mapping', () => {
  const mapping = (argument_mapping: unknown) =>
    all(tool({ input_schema: SCHEMA }), wrap('v', 't', { argument_mapping }));

  it.each<[string, unknown, string[]]>([
    ['renames and fixes', { path: { from: 'file' }, limit: { value: 3 } }, []],
    ['is no object', [], ['WRONG_TYPE argument_mapping']],
    ['says nothing of an argument', { path: {} }, ['BAD_VALUE argument_mapping.path']],
    [
      'says two things of an argument',
      { path: { from: 'a', value: 1 } },
      ['BAD_VALUE argument_mapping.path'],
    ],
    ['is short for nothing', { path: 'file' }, ['BAD_VALUE argument_mapping.path']],
    ['names an argument that is not there', { pth: { from: 'a' } }, ['MAPPING_UNKNOWN argument_mapping.pth']],
    [
      'fixes a value of the wrong type',
      { path: { value: 3 } },
      ['MAPPING_VALUE argument_mapping.path.value'],
    ],
    ['fixes a value out of bounds', { limit: { value: 0 } }, ['MAPPING_VALUE argument_mapping.limit.value']],
    [
      'takes the name of a required argument',
      { limit: { from: 'path' } },
      ['MAPPING_INCOMPLETE argument_mapping'],
    ],
    ['may take it when it maps that as well', { limit: { from: 'path' }, path: { from: 'limit' } }, []],
  ])('that %s', (_, argument_mapping, expected) => {
    expect(refusals(mapping(argument_mapping))).toEqual(expected);
  });

  it('that fixes a pattern which does not compile is refused', () => {
    const fixed = { pattern: { value: '(' }, where: { value: 'job_plan' }, scope: { value: 'job' } };
    expect(refusals(all(wrap('v', 'builtin/pattern_match', { argument_mapping: fixed })))).toEqual([
      'MAPPING_VALUE argument_mapping.pattern.value',
    ]);
  });

  it('whose entries are broken does not hide names that are unknown', () => {
    const argument_mapping = { limit: 17, pth: { value: 'x' } };
    const documents = all(tool({ input_schema: SCHEMA }), wrap('v', 't', { argument_mapping }));
    expect(refusals(documents)).toEqual([
      'BAD_VALUE argument_mapping.limit',
      'MAPPING_UNKNOWN argument_mapping.pth',
    ]);
    expect(refusals(all(wrap('v', 'gone', { argument_mapping })))).toEqual([
      'BAD_VALUE argument_mapping.limit',
    ]);
  });

  it('gives nothing to a tool that takes no arguments', () => {
    for (const each of [{ from: 'n' }, { value: 1 }])
      expect(problemsOf(all(tool(), wrap('v', 't', { argument_mapping: { limit: each } })))).toMatchObject([
        {
          code: 'MAPPING_UNKNOWN',
          path: 'argument_mapping.limit',
          message: 'the wrapped tool takes no arguments',
        },
      ]);
  });

  it('that fixes values which never fit each other is refused', () => {
    const fixed = (scope: string) => ({ where: { value: 'job_plan' }, scope: { value: scope } });
    const documents = (scope: string) =>
      all(wrap('v', 'builtin/pattern_match', { argument_mapping: fixed(scope) }));
    expect(refusals(documents('job'))).toEqual([]);
    expect(refusals(documents('tasks'))).toEqual(['MAPPING_VALUE argument_mapping']);
  });

  it('may name any argument of a tool that takes any', () => {
    expect(
      refusals(
        all(
          tool({ input_schema: { type: 'object' } }),
          wrap('v', 't', { argument_mapping: { anything: { value: 1 } } }),
        ),
      ),
    ).toEqual([]);
  });

  it('of a mapping is followed: the names are those of the validation that is wrapped', () => {
    const inner = wrap('v', 't', { argument_mapping: { path: { from: 'file' } } });
    const outer = (name: string) => wrap('w', 'v', { argument_mapping: { [name]: { from: 'x' } } });
    const documents = (name: string) => all(tool({ input_schema: SCHEMA }), inner, outer(name));
    expect(refusals(documents('file'))).toEqual([]);
    expect(refusals(documents('path'))).toEqual(['MAPPING_UNKNOWN argument_mapping.path']);
  });

  it('that cannot be followed through a schema is refused', () => {
    const odd = { properties: { path: {} }, patternProperties: { '^p': {} } };
    const documents = (...more: unknown[]) =>
      all(
        tool({ input_schema: odd }),
        wrap('v', 't', { argument_mapping: { path: { from: 'x' } } }),
        ...more,
      );
    expect(refusals(documents())).toEqual(['MAPPING_UNSUPPORTED argument_mapping']);
    expect(refusals(documents(wrap('w', 'v')))).toEqual(['MAPPING_UNSUPPORTED argument_mapping']);
  });
});

describe('registering a tool again', () => {
  const registry = registryOf(
    all(
      tool({ code: undefined, command: ['x'], read_only: true, input_schema: SCHEMA }),
      wrap('v', 't', { timeout: '30s', argument_mapping: { path: { from: 'file' } } }),
      wrap('w', 'v'),
    ),
  );

  it.each<[string, Record<string, unknown>, string]>([
    ['writes', { command: ['x'], input_schema: SCHEMA }, 'it wraps local/t, which writes'],
    [
      'runs shorter',
      { command: ['x'], read_only: true, input_schema: SCHEMA, timeout: '1s' },
      'timeout is longer',
    ],
    [
      'lost an argument',
      { command: ['x'], read_only: true, input_schema: { properties: { limit: {} } } },
      'is no argument',
    ],
  ])('is refused when it now %s and validations wrap it', (_, document, message) => {
    const problems = problemsOf(
      [{ file: 't.yaml', kind: 'tool', value: { name: 't', ...document } }],
      registry,
    );
    expect(problems).toMatchObject([{ code: 'BREAKS_WRAPPER', file: 't.yaml', path: '' }]);
    expect(problems[0]?.message).toContain('would break local/v, which wraps it');
    expect(problems[0]?.message).toContain(message);
  });

  it('is accepted together with validations that go along', () => {
    const shorter = { name: 't', command: ['x'], read_only: true, input_schema: SCHEMA, timeout: '1s' };
    const documents = all(shorter, wrap('v', 't', { argument_mapping: { path: { from: 'file' } } }));
    expect(refusals(documents, registry)).toEqual([]);
  });

  it('is refused for its own faults alone where it has any', () => {
    expect(refusals(given('tool', { name: 't', command: ['x'], timeout: 'x' }), registry)).toEqual([
      'BAD_TIMEOUT timeout',
    ]);
  });
});
