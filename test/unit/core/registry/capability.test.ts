import { describe, expect, it } from 'vitest';
import { CODE, given, problemsOf, refusals, registryOf, TRANSFORM } from './build.js';

const READ_ONLY = { read_only: true, writes: false };
const WRITING = { read_only: false, writes: true };
const command = (more: Record<string, unknown> = {}) => ({ name: 't', command: ['x'], ...more });
const mcp = (more: Record<string, unknown> = {}) => ({
  name: 't',
  mcp_server: 's',
  mcp_tool_name: 'n',
  ...more,
});
const graph = (more: Record<string, unknown> = {}) => ({
  name: 't',
  graph: { nodes: { a: { tool: 'builtin/task_count', arguments: { max: { value: 3 } } } } },
  ...more,
});
const code = (more: Record<string, unknown> = {}) => ({ name: 't', code: CODE, ...more });

describe('a tool', () => {
  it.each<[string, Record<string, unknown>, Record<string, boolean>]>([
    ['that is code can change nothing', code(), READ_ONLY],
    ['that is a built-in validator can change nothing', { name: 't', validator: 'task_count' }, READ_ONLY],
    ['that is a command is taken to write', command(), WRITING],
    ['that is a graph is held to change nothing', graph(), READ_ONLY],
    ['that is a graph may be declared to write', graph({ writes: true }), WRITING],
    ['that is an MCP tool without annotations is taken to write', mcp(), WRITING],
    ['that is declared read-only does not write', command({ read_only: true }), READ_ONLY],
    ['that is declared not to write is read-only', command({ capability: { writes: false } }), READ_ONLY],
    ['that is declared to write is not read-only, code or not', code({ writes: true }), WRITING],
    [
      'may change something without writing',
      command({ read_only: false, writes: false }),
      { read_only: false, writes: false },
    ],
    [
      'may say the same at the top and under capability',
      command({ read_only: true, capability: { read_only: true } }),
      READ_ONLY,
    ],
    [
      'that writes may be checkpointable',
      command({ writes: true, checkpointable: true }),
      { ...WRITING, checkpointable: true },
    ],
    ['may need the network', command({ network: true }), { network: true }],
    [
      'of MCP is read-only when its annotations say so',
      mcp({ annotations: { readOnlyHint: true } }),
      READ_ONLY,
    ],
    ['of MCP may be declared read-only where it has no annotations', mcp({ read_only: true }), READ_ONLY],
    ['of MCP writes by the protocol’s defaults', mcp({ annotations: { title: 'T' } }), WRITING],
    [
      'of MCP that is not destructive may still write',
      mcp({ annotations: { destructiveHint: false } }),
      WRITING,
    ],
    [
      'of MCP whose hints contradict each other writes',
      mcp({ annotations: { readOnlyHint: true, destructiveHint: true } }),
      WRITING,
    ],
    [
      'of MCP may be declared to write against its annotations',
      mcp({ writes: true, annotations: { readOnlyHint: true } }),
      WRITING,
    ],
  ])('%s', (_, document, expected) => {
    expect(registryOf(given('tool', document)).entries.get('local/t')?.document).toMatchObject({
      capability: expected,
    });
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['read-only and writing', command({ read_only: true, writes: true }), ['CAPABILITY_CONFLICT writes']],
    [
      'one thing at the top and another under capability',
      command({ writes: true, capability: { writes: false } }),
      ['CAPABILITY_CONFLICT capability.writes'],
    ],
    [
      'writing at the top and read-only under capability',
      command({ writes: true, capability: { read_only: true } }),
      ['CAPABILITY_CONFLICT writes'],
    ],
    ['in need of the network, as code', code({ network: true }), ['CAPABILITY_CONFLICT network']],
    [
      'read-only against its annotations',
      mcp({ read_only: true, annotations: { readOnlyHint: false } }),
      ['MCP_NOT_READ_ONLY annotations'],
    ],
    [
      'read-only against the protocol’s defaults',
      mcp({ capability: { writes: false }, annotations: {} }),
      ['MCP_NOT_READ_ONLY annotations'],
    ],
  ])('is refused that is declared %s', (_, document, expected) => {
    expect(refusals(given('tool', document))).toEqual(expected);
  });
});

describe('a validation', () => {
  it.each<[string, Record<string, unknown>, string[]]>([
    ['writes', { writes: true }, ['VALIDATION_WRITES writes']],
    ['is checkpointable', { checkpointable: true }, ['VALIDATION_CHECKPOINTABLE checkpointable']],
    ['is not read-only', { read_only: false }, ['VALIDATION_NOT_READ_ONLY read_only']],
    ['writes, under capability', { capability: { writes: true } }, ['VALIDATION_WRITES capability.writes']],
    [
      'is all three',
      { capability: { writes: true, read_only: false }, checkpointable: true },
      [
        'VALIDATION_WRITES capability.writes',
        'VALIDATION_NOT_READ_ONLY capability.read_only',
        'VALIDATION_CHECKPOINTABLE checkpointable',
      ],
    ],
  ])('is refused that %s', (_, flags, expected) => {
    for (const document of [
      code(flags),
      command(flags),
      mcp({ ...flags, annotations: { readOnlyHint: true } }),
    ])
      expect(refusals(given('validation', document))).toEqual(expected);
    const wrapping = { name: 't', wraps: 'builtin/task_count', transform: TRANSFORM, ...flags };
    expect(refusals(given('validation', wrapping))).toEqual(expected);
  });

  it('may say that it is read-only, and is so without saying it', () => {
    const flags = { read_only: true, writes: false, checkpointable: false };
    for (const document of [code(), code(flags), command(), command({ capability: flags })])
      expect(registryOf(given('validation', document)).entries.get('local/t')?.document).toMatchObject({
        capability: { ...flags, network: false },
        idempotent: true,
      });
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['has annotations that say read-only', { annotations: { readOnlyHint: true } }, []],
    ['has no annotations and is declared read-only', { read_only: true }, []],
    ['has no annotations and no declaration', {}, ['MCP_UNDECLARED read_only']],
    ['has annotations that say nothing of it', { annotations: {} }, ['MCP_NOT_READ_ONLY annotations']],
    [
      'is declared read-only against its annotations',
      { read_only: true, annotations: { readOnlyHint: false } },
      ['MCP_NOT_READ_ONLY annotations'],
    ],
    [
      'is destructive by its annotations',
      { annotations: { readOnlyHint: true, destructiveHint: true } },
      ['MCP_NOT_READ_ONLY annotations'],
    ],
  ])('of an MCP tool that %s', (_, more, expected) => {
    expect(refusals(given('validation', mcp(more)))).toEqual(expected);
  });

  it('of an MCP tool is told what the hints mean that are not there', () => {
    const [problem] = problemsOf(given('validation', mcp({ annotations: {} })));
    expect(problem?.message).toBe(
      'the annotations do not say that the tool is read-only: readOnlyHint is absent, which means false, destructiveHint is absent, which means true',
    );
  });
});
