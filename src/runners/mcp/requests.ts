import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { McpTool } from '../../core/mcp/tool.js';
import type { JsonObject } from '../../core/registry/model.js';
import { Lost } from './connection.js';

/** The SDK’s own timeouts are never asked: it takes no longer one than a timer can wait. */
const NO_TIMEOUT = 2 ** 31 - 1;
const MOST_TOOLS = 1000;

/** The SDK’s module of types, which is loaded with the first session. */
export type Types = typeof import('@modelcontextprotocol/sdk/types.js');

/** Runs a request that `signal` cancels; a signal that is aborted after the answer cancels nothing. */
export async function cancellable<T>(
  signal: AbortSignal,
  request: (options: { signal: AbortSignal; timeout: number }) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await request({ signal: own.signal, timeout: NO_TIMEOUT });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** All pages of a server’s list of tools. */
export async function listTools(client: Client, types: Types, signal: AbortSignal): Promise<McpTool[]> {
  const tools: McpTool[] = [];
  for (let cursor: string | undefined; ; ) {
    const request = { method: 'tools/list' as const, params: cursor === undefined ? {} : { cursor } };
    const page = await cancellable(signal, (options) =>
      client.request(request, types.ListToolsResultSchema, options),
    );
    for (const { name, title, description, inputSchema, outputSchema, annotations } of page.tools)
      tools.push({
        name,
        inputSchema: inputSchema as JsonObject,
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
        ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as JsonObject }),
        ...(annotations === undefined ? {} : { annotations: annotations as JsonObject }),
      });
    cursor = page.nextCursor;
    if (cursor === undefined) return tools;
    // An empty page that leads to another leads nowhere.
    if (tools.length > MOST_TOOLS || page.tools.length === 0)
      throw new Lost('mcp_malformed', `lists tools without end: more than ${tools.length}`);
  }
}
