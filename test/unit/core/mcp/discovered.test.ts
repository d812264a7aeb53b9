import { describe, expect, it } from 'vitest';
import { type Discovered, discovered } from '../../../../src/core/mcp/discovered.js';
import type { McpTool } from '../../../../src/core/mcp/tool.js';
import { planRegistration } from '../../../../src/core/registry/register.js';

const tool = (name: string, more: Partial<McpTool> = {}): McpTool => ({
  name,
  inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
  ...more,
});
const reads = { annotations: { readOnlyHint: true } };
const tools = [
  tool('read.file', { ...reads, description: 'Reads a file.', outputSchema: { type: 'object' } }),
  tool('read_file', reads),
  tool('3d', { ...reads, title: 'In depth' }),
  tool('überprüfe', reads),
  tool('__', reads),
  tool('write', { annotations: { destructiveHint: false, idempotentHint: true } }),
  tool('wipe', { annotations: {} }),
  tool('guess'),
  tool('odd', { ...reads, inputSchema: { type: 'object', properties: { a: { pattern: '(?=x)' } } } }),
  tool('x'.repeat(200), reads),
];

const documentsOf = (found: Map<string, Discovered>) =>
  [...found.values()].flatMap((each) => ('document' in each ? [each.document] : []));
const registered = (documents: Record<string, unknown>[]) =>
  planRegistration(
    { revision: 0, entries: new Map(), attachments: [] },
    documents.map((value) => ({ kind: 'tool', value })),
    0,
    'test',
  );

describe('the tools of a server', () => {
  it('become documents that can be registered as they are', () => {
    const documents = documentsOf(discovered(tools, { server: 'files', namespace: 'files', as: 'tool' }));
    expect(registered(documents)).toMatchObject({ ok: true });
    expect(documents).toHaveLength(tools.length);
    expect(documents[0]).toEqual({
      kind: 'tool',
      name: 'files/read_file',
      description: 'Reads a file.',
      source: 'mcp',
      mcp_server: 'files',
      mcp_tool_name: 'read.file',
      annotations: { readOnlyHint: true },
      input_schema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
      output_schema: { type: 'object' },
      capability: { read_only: true },
      idempotent: true,
      'x-effect': 'read-only',
    });
  });

  it('get names that Sluice takes, each of its own', () => {
    const found = discovered(tools, { server: 's', namespace: 'n', as: 'tool' });
    expect(documentsOf(found).map(({ name }) => name)).toEqual([
      ...[
        'n/read_file',
        'n/read_file_2',
        'n/tool_3d',
        'n/berpr_fe',
        'n/tool__',
        'n/write',
        'n/wipe',
        'n/guess',
      ],
      ...['n/odd', `n/${'x'.repeat(123)}`],
    ]);
  });

  it.each([
    ['write', { capability: { writes: true }, idempotent: true, 'x-effect': 'writes' }],
    ['wipe', { capability: { writes: true }, idempotent: false, 'x-effect': 'destructive' }],
    ['guess', { capability: { writes: true }, idempotent: false, 'x-effect': 'unknown' }],
  ])('are marked by what they do: %s', (name, marks) => {
    const found = discovered(tools, { server: 's', namespace: 'n', as: 'tool' }).get(name);
    expect(found).toMatchObject({ document: marks });
  });

  it('that may write are no validations, and it is said why', () => {
    const found = discovered(tools, { server: 's', namespace: 'n', as: 'validation' });
    const leftOut = [...found].flatMap(([name, each]) => ('leftOut' in each ? [[name, each.leftOut]] : []));
    expect(leftOut).toEqual([
      ['write', 'its annotations say that it writes'],
      ['wipe', 'its annotations say, or by the protocol’s defaults mean, that it destroys'],
      ['guess', 'it has no annotations; to take it for read-only, declare read_only: true in its document'],
    ]);
    expect(registered(documentsOf(found))).toMatchObject({ ok: true });
  });

  it('with a schema that Sluice does not take take any arguments, and it is said', () => {
    const found = discovered(tools, { server: 's', namespace: 'n', as: 'tool' }).get('odd');
    expect(found).toMatchObject({
      document: { input_schema: { type: 'object' } },
      notes: [expect.stringContaining('input_schema was left open')],
    });
  });
});
