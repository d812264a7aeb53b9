import { describe, expect, it } from 'vitest';
import type { Registry } from '../../../../src/core/registry/model.js';
import { planRemoval } from '../../../../src/core/registry/register.js';
import { attachment, CODE, EMPTY, given, problemsOf, refusals, registryOf, TRANSFORM } from './build.js';

const SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string', minLength: 2 }, limit: { type: 'integer' } },
  required: ['path'],
  additionalProperties: false,
};
const LINT = { name: 'lint', code: CODE, input_schema: SCHEMA };
const CHECK = { kind: 'validation', name: 'check', code: CODE };
const WRITER = { name: 'writer', command: ['x'] };
const VAGUE = { name: 'vague', command: ['x'], read_only: false, writes: false };
const OPEN = { name: 'open', code: CODE, input_schema: { type: 'object' } };
const before = registryOf(given('tool', LINT, CHECK, WRITER, VAGUE, OPEN));

const FOUND = { path: { from: '/args/path' } };
const graph = (nodes: Record<string, unknown>, more: Record<string, unknown> = {}, output?: unknown) => ({
  name: 'g',
  input_schema: SCHEMA,
  graph: { nodes, ...(output === undefined ? {} : { output }) },
  ...more,
});
const lint = (values: Record<string, unknown> = FOUND) => graph({ a: { tool: 'lint', arguments: values } });
const about = (...documents: unknown[]) => problemsOf(given('tool', ...documents), before);
const codes = (...documents: unknown[]) => refusals(given('tool', ...documents), before);

describe('a graph', () => {
  it('calls tools and validations, in any order of the documents', () => {
    const nodes = { a: { tool: 'lint', arguments: FOUND }, b: { tool: 'check' }, c: { tool: 'local/late' } };
    expect(codes(graph(nodes), { name: 'late', code: CODE })).toEqual([]);
    expect(codes({ ...graph(nodes), kind: 'validation' }, { name: 'late', code: CODE })).toEqual([]);
  });

  it.each([
    ['lintt', 'is no registered tool or validation', 'local/lint'],
    ['builtin/task_cont', 'is no registered tool or validation', 'builtin/task_count'],
    ['kit', 'is a skill; nodes are tools and validations', undefined],
  ])('names the nearest tool for %s', (tool, message, nearest) => {
    const skill = { kind: 'skill', name: 'kit', tools: ['lint'] };
    const problem = { code: 'UNKNOWN_TOOL', path: 'graph.nodes.a.tool', message };
    expect(about(skill, graph({ a: { tool } }))).toMatchObject([
      nearest === undefined ? problem : { ...problem, nearest },
    ]);
  });

  it('is never proposed as its own node', () => {
    expect(about(graph({ a: { tool: 'gg' } }))[0]).not.toHaveProperty('nearest');
  });

  it('is not refused once more for a tool that is refused itself', () => {
    expect(codes({ ...LINT, timeout: 'x' }, lint({ nothing: { value: 1 } }))).toEqual([
      'BAD_TIMEOUT timeout',
    ]);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['are not known', { ...FOUND, pth: { value: 1 } }, ['ARGUMENT_UNKNOWN graph.nodes.a.arguments.pth']],
    ['are missing', { limit: { value: 1 } }, ['ARGUMENT_MISSING graph.nodes.a.arguments.path']],
    ['do not fit', { path: { value: 'x' } }, ['ARGUMENT_VALUE graph.nodes.a.arguments.path.value']],
    [
      'are of another type',
      { ...FOUND, limit: { value: 'x' } },
      ['ARGUMENT_VALUE graph.nodes.a.arguments.limit.value'],
    ],
    [
      'cannot be given to the graph',
      { path: { from: '/args/pathh' } },
      ['ARGUMENT_UNKNOWN graph.nodes.a.arguments.path.from'],
    ],
    ['are fixed and fit', { path: { value: 'xy' }, limit: { value: 1 } }, []],
    ['come out of the subject', { path: { from: '/subject/any/0' } }, []],
    ['are all that the graph was given', { path: { from: '/args' } }, []],
  ])('is looked at for arguments that %s', (_, values, expected) => {
    expect(codes(lint(values))).toEqual(expected);
  });

  it('names what a tool would take', () => {
    expect(about(lint({ ...FOUND, pth: { value: 1 } }))).toMatchObject([
      { message: 'is no argument of local/lint', found: 'pth', allowed: ['path', 'limit'], nearest: 'path' },
    ]);
    expect(about(graph({ a: { tool: 'check', arguments: FOUND } }))).toMatchObject([
      { code: 'ARGUMENT_UNKNOWN', message: 'local/check takes no arguments' },
    ]);
    expect(codes(graph({ a: { tool: 'open', arguments: { any: { value: 1 } } } }))).toEqual([]);
  });

  it('takes no arguments without a schema of its own', () => {
    expect(about({ ...lint(), input_schema: undefined })).toMatchObject([
      { code: 'ARGUMENT_UNKNOWN', message: 'this graph takes no arguments', found: 'path' },
    ]);
  });

  it('is held to what fixed arguments mean together', () => {
    const nodes = { a: { tool: 'builtin/task_count', arguments: { scope: { value: 'job' } } } };
    expect(about(graph(nodes))).toMatchObject([{ code: 'ARGUMENT_VALUE', path: 'graph.nodes.a.arguments' }]);
  });

  it('finds nothing in a validation’s output but its three parts', () => {
    const nodes = {
      a: { tool: 'check' },
      b: { tool: 'open', arguments: { x: { from: '/nodes/a/pased' }, y: { from: '/nodes/a/data/n' } } },
    };
    expect(about(graph(nodes))).toMatchObject([
      {
        code: 'BAD_POINTER',
        path: 'graph.nodes.b.arguments.x.from',
        allowed: ['/nodes/a/passed', '/nodes/a/message', '/nodes/a/data'],
      },
    ]);
    expect(codes(graph({ a: { tool: 'open' } }, {}, { from: '/nodes/a/any' }))).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['writer', {}, ['GRAPH_WRITING graph.nodes.a.tool']],
    ['writer', { read_only: true }, ['GRAPH_WRITING graph.nodes.a.tool']],
    ['writer', { kind: 'validation' }, ['GRAPH_WRITING graph.nodes.a.tool']],
    ['writer', { writes: true }, []],
    ['writer', { read_only: false, writes: false }, ['GRAPH_WRITING graph.nodes.a.tool']],
    ['vague', {}, ['GRAPH_WRITING graph.nodes.a.tool']],
    ['vague', { read_only: false, writes: false }, []],
    ['open', {}, []],
    ['open', { writes: true }, []],
  ])('with %s as a node and %j: %j', (tool, more, expected) => {
    expect(codes(graph({ a: { tool } }, more, { from: '/nodes/a' }))).toEqual(expected);
  });

  it('that calls what writes is told both ways out, a validation only one', () => {
    const [tool] = about(graph({ a: { tool: 'writer' } }));
    expect(tool?.message).toMatch(/read_only: true, else this graph with writes: true$/);
    const [validation] = about(
      graph({ a: { tool: 'writer' } }, { kind: 'validation' }, { from: '/nodes/a' }),
    );
    expect(validation?.message).toMatch(/read_only: true$/);
  });

  it('inherits the network', () => {
    expect(codes({ ...lint(), network: true })).toEqual(['INHERITED_FIELD network']);
  });

  it('that is a validation says whether it passes', () => {
    const validation = (tool: string, output?: unknown) =>
      graph({ a: { tool } }, { kind: 'validation' }, output);
    expect(codes(validation('check'))).toEqual([]);
    expect(codes(validation('open', { from: '/nodes/a' }))).toEqual([]);
    expect(codes(validation('open'))).toEqual(['GRAPH_UNDECIDED graph.output']);
    expect(codes(validation('check', { value: { passed: true } }))).toEqual(['GRAPH_UNDECIDED graph.output']);
  });

  it('may be wrapped, also without saying that it is read-only', () => {
    const wrap = { kind: 'validation', name: 'w', wraps: 'g', transform: TRANSFORM };
    expect(codes(lint(), wrap)).toEqual([]);
    expect(codes(graph({ a: { tool: 'writer' } }, { writes: true }), wrap)).toEqual(['WRAPS_WRITING wraps']);
  });
});

const nest = (name: string, tool: string, copies = 1) => ({
  name,
  graph: { nodes: Object.fromEntries(Array.from({ length: copies }, (_, n) => [`n${n}`, { tool }])) },
});

describe('graphs in each other', () => {
  it('go five deep and no deeper', () => {
    const chain = (depth: number) =>
      Array.from({ length: depth }, (_, n) => nest(`g${n + 1}`, n === 0 ? 'open' : `g${n}`));
    expect(codes(...chain(5))).toEqual([]);
    expect(about(...chain(6))).toMatchObject([
      {
        code: 'GRAPH_TOO_DEEP',
        path: 'graph.nodes',
        message: 'would nest graphs more than 5 deep',
        found: '6',
      },
    ]);
  });

  it('make at most 1000 calls, and are not followed further than that', () => {
    expect(codes(nest('a', 'open', 10), nest('b', 'a', 100))).toEqual([]);
    expect(about(nest('a', 'open', 11), nest('b', 'a', 100))).toMatchObject([
      { code: 'GRAPH_TOO_LARGE', found: '1100' },
    ]);
    const wide = Array.from({ length: 5 }, (_, n) => nest(`g${n}`, n === 0 ? 'open' : `g${n - 1}`, 100));
    expect(about(...wide)).toMatchObject(Array(4).fill({ code: 'GRAPH_TOO_LARGE' }));
  });

  it('are at most 4 MiB with all that they call', () => {
    const large = (n: number) => ({ name: `t${n}`, code: CODE, description: 'x'.repeat(250_000) });
    const all = Array.from({ length: 17 }, (_, n) => large(n));
    const nodes = (count: number) =>
      Object.fromEntries(all.slice(0, count).map(({ name }) => [name, { tool: name }]));
    expect(codes(...all, graph(nodes(16)))).toEqual([]);
    expect(about(...all, graph(nodes(17)))).toMatchObject([
      { code: 'GRAPH_TOO_LARGE', message: 'would be larger than 4 MiB with all that it calls' },
    ]);
  });

  it('never contain themselves, directly, through another, or through what wraps', () => {
    expect(about(nest('a', 'a'))).toMatchObject([
      { code: 'GRAPH_CYCLE', message: 'would contain itself', found: 'local/a > local/a' },
    ]);
    expect(about(nest('a', 'b'), nest('b', 'c'), nest('c', 'a'), nest('d', 'a'))).toMatchObject([
      { code: 'GRAPH_CYCLE', found: 'local/a > local/b > local/c > local/a' },
      { code: 'GRAPH_CYCLE', found: 'local/b > local/c > local/a > local/b' },
      { code: 'GRAPH_CYCLE', found: 'local/c > local/a > local/b > local/c' },
    ]);
    const wrap = { kind: 'validation', name: 'w', wraps: 'a', transform: TRANSFORM };
    expect(codes(nest('a', 'w'), wrap)).toEqual(['GRAPH_CYCLE graph.nodes']);
  });
});

describe('a graph that stands', () => {
  const standing = (...documents: unknown[]) => registryOf(given('tool', ...documents), before);
  const breaks = (registry: Registry, ...documents: unknown[]) =>
    problemsOf(given('tool', ...documents), registry);

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      'takes other arguments',
      { input_schema: { ...SCHEMA, required: ['path', 'limit'] } },
      /local\/g, which calls it: graph\.nodes\.a\.arguments\.limit is missing; local\/lint requires it/,
    ],
    ['writes', { writes: true }, /local\/g, which calls it: graph\.nodes\.a\.tool writes/],
  ])('keeps its tool from becoming one that %s', (_, more, message) => {
    const problems = breaks(standing(lint()), { ...LINT, ...more });
    expect(problems).toMatchObject([
      { code: 'BREAKS_GRAPH', path: '', message: expect.stringMatching(message) },
    ]);
  });

  it('does not mind other changes of its tools, and changes along with them', () => {
    expect(breaks(standing(lint()), { ...LINT, description: 'better' })).toEqual([]);
    const both = [{ ...LINT, input_schema: { type: 'object' } }, lint({ any: { value: 1 } })];
    expect(breaks(standing(lint()), ...both)).toEqual([]);
  });

  it('keeps what it calls from closing a circle, also behind what wraps', () => {
    const wrap = (wraps: string) => ({ kind: 'validation', name: 'w', wraps, transform: TRANSFORM });
    const registry = standing(wrap('open'), nest('g', 'w'));
    expect(breaks(registry, wrap('g'))).toMatchObject([
      {
        code: 'BREAKS_GRAPH',
        message: expect.stringContaining('local/g, which calls it: graph.nodes would contain itself'),
      },
    ]);
  });

  it('keeps graphs in it from growing too large or too deep', () => {
    const registry = standing(nest('a', 'open', 10), nest('b', 'a', 100));
    expect(breaks(registry, nest('a', 'open', 11))).toMatchObject([{ code: 'BREAKS_GRAPH' }]);
    const deep = standing(
      ...['b', 'c', 'd', 'e'].map((name, n, all) => nest(name, n === 0 ? 'a' : (all[n - 1] as string))),
      nest('a', 'open'),
      nest('z', 'open'),
    );
    expect(breaks(deep, nest('a', 'z'))).toMatchObject([
      { code: 'BREAKS_GRAPH', message: expect.stringContaining('would break local/e') },
    ]);
  });

  it('keeps its tools from being removed', () => {
    expect(planRemoval(standing(lint()), 'tool', 'lint')).toMatchObject({
      ok: false,
      code: 'IN_USE',
      problems: [{ message: 'is called by the tool local/g', found: 'local/lint' }],
    });
    expect(planRemoval(standing(lint()), 'tool', 'g')).toMatchObject({ ok: true });
  });

  it('keeps its own attachments from being broken', () => {
    const validation = { ...graph({ a: { tool: 'check' } }), kind: 'validation' };
    const registry = {
      ...standing(validation),
      attachments: [attachment('local/g', { arguments: { path: 'src' } })],
    };
    expect(breaks(registry, { ...validation, input_schema: undefined })).toMatchObject([
      { code: 'BREAKS_ATTACHMENT' },
    ]);
    expect(breaks(registry, { ...CHECK, description: 'better' })).toEqual([]);
  });

  it('of a former form is no graph and breaks nothing', () => {
    const [, entry] = [...before.entries][0] as [string, never];
    const old = {
      ...(entry as object),
      document: { ...lint(), kind: 'tool', name: 'local/old', graph: { any: 1 } },
    };
    const entries = new Map([...before.entries, ['local/old', old as never]]);
    expect(breaks({ ...EMPTY, entries }, { ...LINT, writes: true })).toEqual([]);
  });
});
