import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/core/json.js';
import { mcpArguments } from '../../../../src/core/registry/mcp-arguments.js';
import type { GraphValue, JsonObject } from '../../../../src/core/registry/model.js';
import { planRegistration } from '../../../../src/core/registry/register.js';

const given = {
  args: { path: 'a.txt', most: 3 },
  subject: { files: { 'a/b': 'text' }, none: null } as Json,
  resource: 'repo/api' as string | null,
  slot: null,
};

describe('arguments of an MCP tool', () => {
  it.each<[string, Record<string, GraphValue>, JsonObject]>([
    ['are those of the call', {}, { path: 'a.txt', most: 3 }],
    [
      'are taken from the snapshot',
      { text: { from: '/subject/files/a~1b' } },
      { ...given.args, text: 'text' },
    ],
    ['may be the snapshot', { all: { from: '/subject' } }, { ...given.args, all: given.subject }],
    ['may be the resource', { repo: { from: '/resource' } }, { ...given.args, repo: 'repo/api' }],
    ['may be fixed', { most: { value: 5 } }, { path: 'a.txt', most: 5 }],
    ['may be named otherwise outside', { file: { from: '/args/path' } }, { most: 3, file: 'a.txt' }],
    [
      'may change places',
      { path: { from: '/args/most' }, most: { from: '/args/path' } },
      { path: 3, most: 'a.txt' },
    ],
    ['are left out where nothing is', { x: { from: '/subject/y' }, slot: { from: '/slot' } }, given.args],
    ['may be null where null stands', { x: { from: '/subject/none' } }, { ...given.args, x: null }],
    ['are never taken from what all objects have', { x: { from: '/subject/constructor' } }, given.args],
  ])('%s', (_what, mapping, expected) => {
    expect(mcpArguments(mapping, given)).toEqual(expected);
  });
});

describe('the field arguments', () => {
  const document = (more: Record<string, unknown>) => ({
    name: 'check',
    mcp_server: 'files',
    mcp_tool_name: 'check',
    read_only: true,
    ...more,
  });
  const problemsOf = (value: Record<string, unknown>) => {
    const given = [{ kind: 'validation' as const, value }];
    const plan = planRegistration({ revision: 0, entries: new Map(), attachments: [] }, given, 0, 'test');
    return plan.ok ? [] : plan.problems.map(({ path, message, nearest }) => [path, message, nearest]);
  };

  it('is kept as it is written', () => {
    const fields = { arguments: { text: { from: '/subject/text' }, most: { value: null } } };
    const given = [{ kind: 'validation' as const, value: document(fields) }];
    const plan = planRegistration({ revision: 0, entries: new Map(), attachments: [] }, given, 0, 'test');
    expect(plan).toMatchObject({ ok: true, change: { put: [{ document: fields }] } });
  });

  it('is refused with every problem in it', () => {
    const fields = {
      arguments: {
        a: '/subject',
        b: { from: '/subjects/x' },
        c: { from: 'subject' },
        d: { from: '/args', value: 1 },
      },
    };
    const form = 'must be {from: JSON pointer, such as /subject/path} or {value: what it always is}';
    const pointer = 'must be a JSON pointer into what the tool is called with';
    expect(problemsOf(document(fields))).toEqual([
      ['arguments.a', form, undefined],
      ['arguments.b.from', pointer, '/subject'],
      ['arguments.c.from', pointer, undefined],
      ['arguments.d', form, undefined],
    ]);
  });

  it('belongs to MCP tools alone', () => {
    const code = { name: 'x', source: 'code', code: '() => ({ passed: true })', arguments: {} };
    expect(problemsOf(code)).toEqual([['arguments', 'belongs to source mcp; the source is code', undefined]]);
  });
});
