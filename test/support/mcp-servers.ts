import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CallableDocument, JsonObject } from '../../src/core/registry/model.js';
import type { ToolRun } from '../../src/ports/runner.js';
import type { McpServerSettings } from '../../src/runners/mcp/runner.js';
import { ROOT } from './cli.js';

/** An MCP server by hand: what it does wrong depends on its first argument and on the tool. */
const SOURCE = `
const kind = process.argv[1];
const readOnly = { readOnlyHint: true };
const names = ['echo', 'die', 'late', 'flood', 'garbage', 'wrong_id', 'giant', 'rubbish', 'refuse', 'tool_error',
  'no_output', 'deaf', 'stuck', 'change', 'cancelled', 'deep', 'leak'];
let tools = names.map((name) => ({ name, inputSchema: { type: 'object' }, annotations: readOnly }));
tools.push({ name: 'silent', inputSchema: { type: 'object' } });
tools.push({ name: 'write', inputSchema: { type: 'object' }, annotations: { readOnlyHint: false } });
const cancelled = [];
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const answer = (id, value) =>
  send({ id, result: { content: [{ type: 'text', text: 'see structuredContent' }], structuredContent: value } });
const fine = (args) => ({ passed: true, message: 'fine', data: { args, pid: process.pid } });
const acts = {
  echo: (id, args) => answer(id, fine(args)),
  silent: (id, args) => answer(id, fine(args)),
  write: (id, args) => answer(id, fine(args)),
  die() { process.stderr.write('I cannot go on\\n', () => process.exit(3)); },
  late: (id, args) => setTimeout(() => answer(id, fine(args)), args.ms),
  flood(id, args) { process.stderr.write('x'.repeat(5e6) + '\\nthe end\\n', () => answer(id, fine(args))); },
  garbage(id, args) {
    process.stdout.write('starting up...\\n{"jsonrpc":"1.0"}\\n[1,2\\n\\u0000\\u0001\\n');
    answer(id, fine(args));
  },
  wrong_id: (id, args) => answer(id + 1000, fine(args)),
  giant(id) {
    process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[{"type":"text","text":"');
    let left = 100;
    const more = () => {
      while (left > 0 && process.stdout.write('y'.repeat(2 ** 20))) left -= 1;
      if (left > 0) process.stdout.once('drain', more);
      else process.stdout.write('"}]}}\\n');
    };
    more();
  },
  rubbish: (id) => send({ id, result: { content: 42 } }),
  refuse: (id) => send({ id, error: { code: -32602, message: 'no such path', data: { path: 1 } } }),
  tool_error: (id) => send({ id, result: { isError: true, content: [{ type: 'text', text: 'disk on fire' }] } }),
  no_output() { require('node:fs').closeSync(1); },
  deaf() {},
  stuck() { for (;;); },
  change(id, args) {
    tools = tools.map((tool) => (tool.name === 'echo' ? { ...tool, annotations: args.annotations } : tool));
    send({ method: 'notifications/tools/list_changed' });
    answer(id, fine(args));
  },
  cancelled: (id) => answer(id, { passed: true, message: 'fine', data: { cancelled } }),
  leak(id, { how }) {
    const secret = process.env.TOKEN;
    const content = [{ type: 'text', text: 'x'.repeat(495) + secret }];
    if (how === 'value') answer(id, { passed: false, message: secret, data: { [secret]: [secret] } });
    if (how === 'text') send({ id, result: { content: [{ type: 'text', text: JSON.stringify({ secret }) }] } });
    if (how === 'tool_error') send({ id, result: { isError: true, content } });
    if (how === 'error') send({ id, error: { code: -32602, message: 'no ' + secret } });
    if (how === 'died') process.stderr.write('x'.repeat(195) + secret + '\\n', () => process.exit(3));
    if (how === 'noise') process.stdout.write('x'.repeat(195) + secret + '\\n', () => process.exit(3));
  },
  deep: (id) => process.stdout.write('{"jsonrpc":"2.0","id":' + id +
    ',"result":{"content":[],"structuredContent":{"a":' + '['.repeat(1e5) + ']'.repeat(1e5) + '}}}\\n'),
};
if (kind === 'lacks') require('@somebody/package');
if (kind === 'dies') { process.stderr.write('no licence found\\n'); process.exit(7); }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize' && kind !== 'never')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'by-hand', version: '1' } } });
  else if (method === 'notifications/initialized' && kind === 'greets') process.exit(5);
  else if (method === 'tools/list' && kind === 'endless')
    send({ id, result: { tools, nextCursor: 'more' } });
  else if (method === 'tools/list') send({ id, result: { tools } });
  else if (method === 'ping') send({ id, result: {} });
  else if (method === 'notifications/cancelled') cancelled.push(params.requestId);
  else if (method === 'tools/call') acts[params.name](id, params.arguments ?? {});
});
`;

const STDIO = { env: {}, env_from: {}, network: false, paths: [], sessions: 1 };

/** Settings of the server by hand. */
export function byHand(kind = 'good', more: Partial<McpServerSettings> = {}): McpServerSettings {
  return { ...STDIO, command: [process.execPath, '-e', SOURCE, kind], ...more } as McpServerSettings;
}

const MODULES = join(ROOT, 'node_modules');
const packaged = (name: string) => join(MODULES, '@modelcontextprotocol', name, 'dist', 'index.js');

/** Program and arguments of the server that serves everything, over streamable HTTP. */
export const EVERYTHING_HTTP = [packaged('server-everything'), 'streamableHttp'];

/** Settings of the real server of files, for a folder. */
export function filesystemServer(folder: string): McpServerSettings {
  const command = [process.execPath, packaged('server-filesystem'), folder];
  return { ...STDIO, command, paths: [MODULES, folder] };
}

/** A validation of a tool of a server; `more` for anything else. */
export function mcpDocument(
  server: string,
  tool: string,
  more: Partial<CallableDocument> = {},
): CallableDocument {
  return {
    kind: 'tool',
    name: `local/${tool}`,
    description: '',
    source: 'mcp',
    mcp_server: server,
    mcp_tool_name: tool,
    capability: { read_only: true, writes: false, checkpointable: false, network: false },
    lifecycle: {},
    idempotent: true,
    ...more,
  } as CallableDocument;
}

/** A call of a document. */
export function mcpCall(document: CallableDocument, args: JsonObject = {}, deadlineMs = 20_000): ToolRun {
  return { document, args, subject: null, resource: null, slot: null, deadlineMs };
}

/** An HTTP server on a free port of this host, whose answers the test gives. */
export async function httpServer(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handle(request, response, Buffer.concat(chunks).toString('utf8')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
