import { describe, expect, it } from 'vitest';
import {
  inputSchemaOf,
  parseTool,
  resolveTool,
  runnerOf,
  sealTool,
  slotsOf,
  timeoutOf,
} from '../../../../src/core/registry/closure.js';
import type { ResolvedTool } from '../../../../src/core/registry/model.js';
import { needsOf, unservedOf } from '../../../../src/core/registry/needs.js';
import { CODE, given, registryOf, TRANSFORM } from './build.js';

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } };
const REMOTE = { mcp_server: 'github', mcp_tool_name: 't', read_only: true };
const documents = given(
  'tool',
  { name: 'pure', code: CODE },
  { name: 'run', command: ['x'], read_only: true },
  { name: 'remote', ...REMOTE },
  { kind: 'validation', name: 'wrap', wraps: 'inner', transform: TRANSFORM },
  { name: 'inner', graph: { nodes: { a: { tool: 'run' }, b: { tool: 'remote' }, c: { tool: 'pure' } } } },
  {
    kind: 'validation',
    name: 'outer',
    input_schema: SCHEMA,
    resource_slots: [{ name: 'repo' }],
    timeout: '5m',
    graph: {
      nodes: { a: { tool: 'wrap' }, b: { tool: 'pure', needs: ['a'] }, c: { tool: 'pure' } },
    },
  },
  { kind: 'validation', name: 'shorter', wraps: 'outer', transform: TRANSFORM, timeout: '2s' },
);
const registry = registryOf(documents);
const tool = (name: string) => resolveTool(registry, name);
const namesOf = ({ chain, nodes }: ResolvedTool): unknown => [
  chain.map(({ name }) => name.replace('local/', '')),
  ...(nodes === undefined
    ? []
    : [Object.fromEntries(Object.entries(nodes).map(([name, each]) => [name, namesOf(each)]))]),
];

describe('a resolved graph', () => {
  it('carries the tools of its nodes, once each, down to the last', () => {
    expect(namesOf(tool('shorter'))).toEqual([
      ['shorter', 'outer'],
      {
        'local/wrap': [
          ['wrap', 'inner'],
          { 'local/run': [['run']], 'local/remote': [['remote']], 'local/pure': [['pure']] },
        ],
        'local/pure': [['pure']],
      },
    ]);
    expect(tool('pure')).not.toHaveProperty('nodes');
  });

  it('is stored under the digest of its text, and read from it', () => {
    const { digest, json } = sealTool(tool('shorter'));
    expect(parseTool(json)).toEqual(tool('shorter'));
    expect(sealTool(parseTool(json))).toEqual({ digest, json });
  });

  it('has another version when a tool of a graph in it has changed, and keeps the old one', () => {
    const changed = registryOf(given('tool', { name: 'run', command: ['y'], read_only: true }), registry);
    expect(sealTool(resolveTool(changed, 'outer')).digest).not.toBe(sealTool(tool('outer')).digest);
    expect(changed.entries.get('local/outer')).toEqual(registry.entries.get('local/outer'));
    expect(tool('outer').nodes?.['local/wrap']?.nodes?.['local/run']?.chain[0]).toMatchObject({
      command: ['x'],
    });
  });

  it.each<[string, (whole: ResolvedTool) => unknown]>([
    ['without the tools of its nodes', ({ chain }) => ({ chain })],
    [
      'without one of them',
      ({ chain, nodes }) => ({ chain, nodes: { 'local/pure': nodes?.['local/pure'] } }),
    ],
    [
      'with one that is none',
      (whole) => ({ ...whole, nodes: { ...whole.nodes, 'local/pure': { chain: [] } } }),
    ],
    ['with tools that are none', (whole) => ({ ...whole, nodes: [] })],
    [
      'with too many graphs in each other',
      (whole) => {
        let nested: unknown = whole;
        for (let n = 0; n < 5; n += 1) nested = { ...whole, nodes: { ...whole.nodes, 'local/wrap': nested } };
        return nested;
      },
    ],
  ])('is not read %s', (_, spoilt) => {
    expect(() => parseTool(JSON.stringify(spoilt(tool('outer'))))).toThrow('not a resolved tool');
  });

  it('runs on the runner queue, in its own time, with its own arguments and slots', () => {
    expect([runnerOf(tool('inner')), runnerOf(tool('outer')), runnerOf(tool('shorter'))]).toEqual([
      'runner',
      'runner',
      'runner',
    ]);
    expect([timeoutOf(tool('inner')), timeoutOf(tool('outer')), timeoutOf(tool('shorter'))]).toEqual([
      60_000, 300_000, 2_000,
    ]);
    expect(inputSchemaOf(tool('shorter'))).toEqual(SCHEMA);
    expect(inputSchemaOf(tool('wrap'))).toEqual({ type: 'object', additionalProperties: false });
    expect(slotsOf(tool('shorter'))).toMatchObject([{ name: 'repo' }]);
  });

  it('needs of a worker what its nodes need, sorted, each once', () => {
    expect(needsOf(tool('shorter'))).toEqual(['command', 'mcp:github']);
    expect(needsOf(tool('inner'))).toEqual(['command', 'mcp:github']);
    expect(needsOf(tool('pure'))).toEqual([]);
    expect(needsOf(tool('run'))).toEqual(['command']);
    expect(unservedOf(needsOf(tool('shorter')), ['command', 'ansible'])).toEqual(['mcp:github']);
    expect(unservedOf([], [])).toEqual([]);
  });
});
