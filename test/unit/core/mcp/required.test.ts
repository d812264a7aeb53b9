import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/core/json.js';
import { missingArguments } from '../../../../src/core/mcp/required.js';
import type { McpTool } from '../../../../src/core/mcp/tool.js';
import { mcpArguments } from '../../../../src/core/registry/mcp-arguments.js';
import type { CallableDocument, GraphValue, JsonObject } from '../../../../src/core/registry/model.js';

const given = {
  args: { path: 'a.txt' } as JsonObject,
  subject: { files: { 'a/b.md': 'text', 'notes.md': 'x' }, list: [1], name: 'x', none: null } as Json,
  resource: null,
  slot: null,
};

/** What is wrong with a call whose arguments are mapped, of a tool that requires these. */
function missing(
  mapping: Record<string, GraphValue>,
  required: Json | undefined,
  call: typeof given = given,
) {
  const tool = {
    name: 'check',
    inputSchema: { type: 'object', ...(required === undefined ? {} : { required }) },
  } as McpTool;
  const document = {
    name: 'local/check',
    mcp_server: 'texts',
    arguments: mapping,
  } as unknown as CallableDocument;
  return missingArguments(document, tool, mcpArguments(mapping, call), call);
}

const told = (what: string) => ({
  kind: 'failure',
  reason: 'arguments',
  message: `local/check was not called: the tool "check" of the MCP server texts requires ${what}`,
});

describe('arguments that a tool requires', () => {
  it.each<[string, string, string]>([
    [
      'has another name',
      '/subject/files/note.md',
      '/subject/files/note.md, where nothing is: /subject/files has a/b.md, notes.md; did you mean /subject/files/notes.md?',
    ],
    [
      'has a name with a slash',
      '/subject/files/a~1c.md',
      '/subject/files/a~1c.md, where nothing is: /subject/files has a/b.md, notes.md; did you mean /subject/files/a~1b.md?',
    ],
    [
      'is missing further up',
      '/subject/file/x/y',
      '/subject/file/x/y, where nothing is: /subject has files, list, name, none; did you mean /subject/files?',
    ],
    [
      'is not in a list',
      '/subject/list/7',
      '/subject/list/7, where nothing is: /subject/list is a list of 1',
    ],
    ['is in a text', '/subject/name/x', '/subject/name/x, where nothing is: /subject/name is a string'],
    ['is in null', '/subject/none/x', '/subject/none/x, where nothing is: /subject/none is null'],
    ['is no part of the call', '/resource', '/resource, where nothing is: the call has args, subject'],
    [
      'is an argument that is not given',
      '/args/paht',
      '/args/paht, where nothing is: /args has path; did you mean /args/path?',
    ],
  ])('are missed where what a pointer leads to %s', (_what, from, why) => {
    expect(missing({ text: { from } }, ['text'])).toEqual(
      told(`the argument "text", which comes from ${why}`),
    );
  });

  it('are missed where nobody gives them', () => {
    expect(missing({}, ['text', 'path'])).toEqual(
      told('the argument "text", which is not among those of the call: path'),
    );
    expect(missing({}, ['text'], { ...given, args: {} })).toEqual(
      told('the argument "text", which is not among those of the call: none'),
    );
  });

  it('are told together', () => {
    expect(missing({ a: { from: '/slot' } }, ['a', 'b'])).toEqual(
      told(
        'the argument "a", which comes from /slot, where nothing is: the call has args, subject; and the argument "b", which is not among those of the call: path',
      ),
    );
  });

  it.each<[string, Record<string, GraphValue>, Json | undefined]>([
    ['nothing is required', { text: { from: '/slot' } }, undefined],
    ['another one is', { text: { from: '/slot' } }, ['path']],
    ['it is null', { text: { from: '/subject/none' } }, ['text']],
    ['it is fixed', { text: { value: false } }, ['text']],
    ['the schema of the server is odd', {}, 'text'],
    ['… or odd in itself', {}, [7, null]],
  ])('are there where %s', (_what, mapping, required) => {
    expect(missing(mapping, required)).toBeUndefined();
  });

  it('are missed at once in a snapshot of very many files', () => {
    const files = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`${'x'.repeat(99)}${n}`, '']));
    const started = performance.now();
    const failure = missing({ text: { from: `/subject/${'y'.repeat(5_000)}` } }, ['text'], {
      ...given,
      subject: { ...files, ['z'.repeat(1_000_000)]: 1 },
    });
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(failure?.message.length).toBeLessThan(4_000);
  });
});
