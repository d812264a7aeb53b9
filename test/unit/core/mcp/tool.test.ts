import { describe, expect, it } from 'vitest';
import { effectOf, findTool, type McpTool, notReadOnly } from '../../../../src/core/mcp/tool.js';
import type { CallableDocument, JsonObject } from '../../../../src/core/registry/model.js';

const tool = (name: string, annotations?: JsonObject): McpTool => ({
  name,
  inputSchema: { type: 'object' },
  ...(annotations === undefined ? {} : { annotations }),
});

describe('what a tool does to the world', () => {
  it.each<[string, JsonObject | undefined, string]>([
    ['nothing is said', undefined, 'unknown'],
    ['annotations say nothing of it', { title: 'Read' }, 'destructive'],
    ['it only reads', { readOnlyHint: true }, 'read-only'],
    ['it reads, and destroys nothing', { readOnlyHint: true, destructiveHint: false }, 'read-only'],
    ['it says both', { readOnlyHint: true, destructiveHint: true }, 'destructive'],
    ['it writes', { readOnlyHint: false, destructiveHint: false }, 'writes'],
    ['it destroys nothing, and may write', { destructiveHint: false }, 'writes'],
    ['it writes, and may destroy', { readOnlyHint: false }, 'destructive'],
    ['a hint is no boolean', { readOnlyHint: 'true' }, 'destructive'],
  ])('where %s', (_what, annotations, effect) => {
    expect(effectOf(tool('x', annotations))).toBe(effect);
  });
});

describe('a call of a tool', () => {
  const document = (readOnly: boolean, annotations?: JsonObject) =>
    ({
      name: 'local/read',
      mcp_server: 'files',
      capability: { read_only: readOnly, writes: !readOnly },
      ...(annotations === undefined ? {} : { annotations }),
    }) as CallableDocument;
  const reads = { readOnlyHint: true };

  it.each<[string, CallableDocument, JsonObject | undefined, boolean]>([
    ['that is read-only then and now', document(true, reads), reads, true],
    ['that the operator takes for read-only, and nothing is said', document(true), undefined, true],
    ['that the operator takes for read-only, and it is', document(true), reads, true],
    ['that writes, as registered', document(false), { readOnlyHint: false }, true],
    ['that writes by now', document(true, reads), { readOnlyHint: false, destructiveHint: false }, false],
    ['that destroys by now', document(true, reads), { readOnlyHint: true, destructiveHint: true }, false],
    ['whose annotations are gone', document(true, reads), undefined, false],
    ['whose annotations no longer say', document(true), { title: 'Read' }, false],
  ])('%s', (_what, registered, live, isCalled) => {
    expect(notReadOnly(registered, tool('read', live))?.reason).toBe(
      isCalled ? undefined : 'mcp_not_read_only',
    );
  });

  it('under a name that the server lacks is told the nearest one', () => {
    const failure = findTool('files', [tool('read_file'), tool('write_file')], 'raed_file');
    expect(failure).toMatchObject({
      reason: 'mcp_no_such_tool',
      message:
        'the MCP server files has no tool "raed_file"; it has: read_file, write_file; did you mean "read_file"?',
    });
  });
});
