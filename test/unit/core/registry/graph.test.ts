import { describe, expect, it } from 'vitest';
import { CODE, given, problemsOf, refusals, registryOf } from './build.js';

const TOOL = { name: 't', code: CODE, input_schema: { type: 'object' } };
const graph = (nodes: unknown, more: Record<string, unknown> = {}) => ({
  name: 'g',
  graph: { nodes, ...more },
});
const about = (document: unknown) =>
  problemsOf(given('tool', TOOL, document)).map(({ document: _, ...rest }) => rest);
const codes = (document: unknown) => refusals(given('tool', TOOL, document));
const node = (more: Record<string, unknown> = {}) => ({ tool: 't', ...more });
const argument = (value: unknown) => graph({ a: node({ arguments: { x: value } }), b: node() });

describe('the graph of a document', () => {
  it('is kept as a list of nodes in the order in which they are given, with full names', () => {
    const document = graph(
      {
        z: node(),
        a: node({ arguments: { x: { from: '/nodes/z' }, y: { value: [1] } }, subject: { from: '/args' } }),
        b: node({ needs: ['a', 'z', 'a'] }),
      },
      { output: { from: '/nodes/b' }, 'x-note': 'mine' },
    );
    expect(registryOf(given('tool', TOOL, document)).entries.get('local/g')?.document).toMatchObject({
      source: 'graph',
      graph: {
        nodes: [
          { id: 'z', tool: 'local/t', arguments: {}, needs: [] },
          {
            id: 'a',
            tool: 'local/t',
            arguments: { x: { from: '/nodes/z' }, y: { value: [1] } },
            subject: { from: '/args' },
            needs: [],
          },
          { id: 'b', tool: 'local/t', needs: ['a', 'z'] },
        ],
        output: { from: '/nodes/b' },
      },
    });
  });

  it.each<[string, unknown, string[]]>([
    ['is no object', { name: 'g', graph: ['t'] }, ['WRONG_TYPE graph']],
    ['has no nodes', { name: 'g', graph: {} }, ['MISSING_FIELD graph.nodes']],
    ['has nodes in a list', graph([node()]), ['WRONG_TYPE graph.nodes']],
    ['has an empty map of nodes', graph({}), ['BAD_VALUE graph.nodes']],
    [
      'has too many nodes',
      graph(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`n${n}`, node()]))),
      ['BAD_VALUE graph.nodes'],
    ],
    ['has a key that is none', graph({ a: node() }, { edges: [] }), ['UNKNOWN_KEY graph.edges']],
    ['has an id that is none', graph({ '1a': node() }), ['BAD_NAME graph.nodes["1a"]']],
    ['has an id of Object’s own that is fine', graph({ constructor: node() }), []],
    ['has a node that is no object', graph({ a: 't' }), ['WRONG_TYPE graph.nodes.a']],
    ['has a node without a tool', graph({ a: {} }), ['MISSING_FIELD graph.nodes.a.tool']],
    [
      'has a node with a key that is none',
      graph({ a: node({ args: {} }) }),
      ['UNKNOWN_KEY graph.nodes.a.args'],
    ],
    [
      'has arguments in a list',
      graph({ a: node({ arguments: [] }) }),
      ['WRONG_TYPE graph.nodes.a.arguments'],
    ],
    [
      'needs something that is no list',
      graph({ a: node({ needs: 'a' }) }),
      ['WRONG_TYPE graph.nodes.a.needs'],
    ],
    [
      'needs a node that is not there',
      graph({ a: node({ needs: ['b'] }) }),
      ['UNKNOWN_NODE graph.nodes.a.needs[0]'],
    ],
    ['needs toString', graph({ a: node({ needs: ['toString'] }) }), ['UNKNOWN_NODE graph.nodes.a.needs[0]']],
    [
      'has a subject that is a text',
      graph({ a: node({ subject: 'x' }) }),
      ['BAD_VALUE graph.nodes.a.subject'],
    ],
    [
      'has an output that is a text',
      graph({ a: node() }, { output: '/nodes/a' }),
      ['BAD_VALUE graph.output'],
    ],
    [
      'returns a node that is not there',
      graph({ a: node() }, { output: { from: '/nodes/b' } }),
      ['UNKNOWN_NODE graph.output.from'],
    ],
    [
      'has two keys in a value',
      argument({ from: '/args', value: 1 }),
      ['BAD_VALUE graph.nodes.a.arguments.x'],
    ],
    ['has a number for a pointer', argument({ from: 1 }), ['BAD_VALUE graph.nodes.a.arguments.x']],
    ['has a node that waits for itself', graph({ a: node({ needs: ['a'] }) }), ['GRAPH_CYCLE graph.nodes.a']],
  ])('%s', (_, document, expected) => {
    expect(codes(document)).toEqual(expected);
  });

  it.each([
    ['text', '{value: "text"}'],
    ['/nodes/b/data', '{from: "/nodes/b/data"}'],
  ])('tells how a bare value is written: %s', (text, way) => {
    expect(about(argument(text))).toMatchObject([
      { code: 'BAD_VALUE', message: expect.stringContaining(`did you mean ${way}?`) },
    ]);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['/nodes/c', 'UNKNOWN_NODE', { found: '"c"', allowed: ['a', 'b'] }],
    ['/nodes', 'BAD_POINTER', { allowed: ['a', 'b'] }],
    ['/nodes/', 'UNKNOWN_NODE', { found: '""' }],
    ['/node/b', 'BAD_POINTER', { found: '"/node/b"', nearest: '/nodes' }],
    ['/arg/x', 'BAD_POINTER', { nearest: '/args' }],
    ['/', 'BAD_POINTER', { allowed: ['/args', '/subject', '/resource', '/slot', '/nodes'] }],
    ['', 'BAD_POINTER', { message: expect.stringContaining('/args/path') }],
    ['nodes/b', 'BAD_POINTER', { message: expect.stringContaining('JSON pointer') }],
    ['/args/~2', 'BAD_POINTER', { message: expect.stringContaining('"~0"') }],
    ['/args/x~', 'BAD_POINTER', { found: '"/args/x~"' }],
  ])('refuses the pointer "%s"', (from, code, more) => {
    expect(about(argument({ from }))).toMatchObject([
      { code, path: 'graph.nodes.a.arguments.x.from', ...more },
    ]);
  });

  it('names the way of every circle among nodes', () => {
    const document = graph({
      a: node({ needs: ['c'] }),
      b: node({ arguments: { x: { from: '/nodes/a/y' } } }),
      c: node({ subject: { from: '/nodes/b' } }),
      d: node({ needs: ['d', 'a'] }),
      e: node({ needs: ['d'] }),
    });
    expect(about(document)).toMatchObject([
      {
        code: 'GRAPH_CYCLE',
        path: 'graph.nodes.a',
        message: 'would wait for itself',
        found: 'a > c > b > a',
      },
      { code: 'GRAPH_CYCLE', path: 'graph.nodes.d', found: 'd > d' },
    ]);
  });

  it('is told everything that is wrong with it at once, names of tools included', () => {
    const document = graph({
      a: { tool: 'tt', arguments: { x: 'text', y: { from: '/nodes/bb' } } },
      b: node({ needs: ['aa'], tol: 1 }),
    });
    expect(codes(document).sort()).toEqual([
      'BAD_VALUE graph.nodes.a.arguments.x',
      'UNKNOWN_KEY graph.nodes.b.tol',
      'UNKNOWN_NODE graph.nodes.a.arguments.y.from',
      'UNKNOWN_NODE graph.nodes.b.needs[0]',
      'UNKNOWN_TOOL graph.nodes.a.tool',
    ]);
  });

  it('belongs to a document of source graph alone', () => {
    expect(codes({ name: 'g', source: 'code', code: CODE, graph: { nodes: { a: node() } } })).toEqual([
      'FOREIGN_FIELD graph',
    ]);
  });
});
