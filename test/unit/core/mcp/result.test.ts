import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type McpCallResult, toolOutput } from '../../../../src/core/mcp/result.js';

const text = (value: string) => ({ type: 'text', text: value });

describe('what an MCP tool returned', () => {
  it.each<[string, McpCallResult, unknown]>([
    ['structured content', { content: [text('{"a": 2}')], structuredContent: { a: 1 } }, { a: 1 }],
    ['one text that is a JSON object', { content: [text(' {"a": 1}\n')] }, { a: 1 }],
    ['one text that is a JSON list', { content: [text('[1]')] }, { content: [text('[1]')] }],
    ['one text that only begins like one', { content: [text('{a}')] }, { content: [text('{a}')] }],
    ['two texts', { content: [text('{}'), text('{}')] }, { content: [text('{}'), text('{}')] }],
    ['nothing', { content: [] }, { content: [] }],
    [
      'an image',
      { content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA', _meta: {} }] },
      { content: [{ type: 'image', mimeType: 'image/png', bytes: 3 }] },
    ],
    [
      'bytes of a resource',
      { content: [{ type: 'resource', resource: { uri: 'x:1', blob: 'AAA=' } }] },
      { content: [{ type: 'resource', uri: 'x:1', bytes: 2 }] },
    ],
    [
      'text of a resource',
      { content: [{ type: 'resource', resource: { uri: 'x:1', text: 'hi', mimeType: 'text/plain' } }] },
      { content: [{ type: 'resource', uri: 'x:1', text: 'hi', mimeType: 'text/plain' }] },
    ],
    [
      'a link',
      { content: [{ type: 'resource_link', uri: 'x:1', name: 'one', icons: [] }] },
      { content: [{ type: 'resource_link', uri: 'x:1', name: 'one' }] },
    ],
  ])('is its value: %s', (_what, result, value) => {
    expect(toolOutput('read', result)).toEqual({ kind: 'value', value });
  });

  it('is a failure with its text where the tool says that it failed', () => {
    expect(toolOutput('read', { content: [text('no'), text('file')], isError: true })).toEqual({
      kind: 'failure',
      reason: 'mcp_tool_error',
      message: 'the MCP tool "read" failed: no\nfile',
      data: { raw_output: 'no\nfile' },
    });
  });

  it('is a failure where it is nested too deeply to be read', () => {
    const structuredContent = JSON.parse(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`);
    for (const isError of [false, true])
      expect(toolOutput('read', { content: [], structuredContent, isError })).toMatchObject({
        reason: 'mcp_malformed',
      });
  });

  it('is never a value where the tool says that it failed', () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.string() }),
      fc.dictionary(fc.string(), fc.jsonValue()),
    );
    fc.assert(
      fc.property(
        fc.array(block),
        fc.option(fc.object(), { nil: undefined }),
        (content, structuredContent) => {
          expect(toolOutput('x', { content, structuredContent, isError: true }).kind).toBe('failure');
          expect(toolOutput('x', { content, structuredContent }).kind).toBe('value');
        },
      ),
    );
  });
});
