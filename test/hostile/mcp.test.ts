import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json.js';
import { McpRunner, type McpServerSettings } from '../../src/runners/mcp/runner.js';
import { LocalProcesses } from '../../src/runners/process/processes.js';
import { byHand, httpServer, mcpCall, mcpDocument } from '../support/mcp-servers.js';
import { noSandbox, SETTINGS } from '../support/sandboxed.js';
import { newTraces, traces } from '../support/traces.js';

const before = traces();
/** One for each call: a signal is not meant for many. */
const living = () => new AbortController().signal;

/** A server for each case, so that none sees what another does to its own. */
const CASES = ['die', 'late', 'flood', 'garbage', 'wrong_id', 'giant', 'rubbish', 'refuse', 'tool_error'];
const MORE = ['no_output', 'deaf', 'stuck', 'change', 'deep', 'close', 'abort', 'secrets', 'many'];
const servers: Record<string, McpServerSettings> = {
  ...Object.fromEntries([...CASES, ...MORE].map((name) => [name, byHand()])),
  never: byHand('never'),
  dies: byHand('dies'),
  endless: byHand('endless'),
  lacks: byHand('lacks'),
  greets: byHand('greets'),
  absent: byHand('good', { command: ['no-such-program'] }),
  unset: byHand('good', { env_from: { TOKEN: 'SLUICE_TEST_UNSET' } }),
};
const processes = new LocalProcesses(SETTINGS);
const runner = new McpRunner(servers, processes, {});

afterAll(async () => {
  await runner.close();
  expect(await newTraces(before)).toEqual([]);
});

const call = async (server: string, tool: string, args: Record<string, Json> = {}, deadlineMs = 20_000) =>
  (await runner.run(mcpCall(mcpDocument(server, tool), args, deadlineMs), living())).outcome;

const fine = { kind: 'value', value: { passed: true, message: 'fine' } };

/** The process that answers, inside its sandbox or not. */
const pidOf = async (server: string) => {
  const outcome = await call(server, 'echo');
  expect(outcome).toMatchObject(fine);
  return (outcome as { value: { data: { pid: number } } }).value.data.pid;
};

describe.skipIf(noSandbox !== undefined).concurrent('a server that', () => {
  it.each([
    ['die', 'mcp_died', /die ended with exit code 3 during the call/, 'I cannot go on\n'],
    ['giant', 'mcp_too_large', /giant sent a message of more than 16 MiB/, undefined],
    ['rubbish', 'mcp_malformed', /an answer that the protocol does not know: content: /, undefined],
    ['deep', 'mcp_malformed', /nested deeper than 128 levels/, undefined],
    ['refuse', 'mcp_error', /answered with error -32602: no such path/, undefined],
    ['tool_error', 'mcp_tool_error', /"tool_error" failed: disk on fire/, 'disk on fire'],
  ])(
    'gives a bad answer (%s) is a failure, and answers the next call',
    async (tool, reason, message, raw) => {
      const outcome = await call(tool, tool);
      expect(outcome).toMatchObject({ kind: 'failure', reason, message: expect.stringMatching(message) });
      if (raw !== undefined) expect(outcome).toMatchObject({ data: { raw_output: raw } });
      expect(await call(tool, 'echo')).toMatchObject(fine);
    },
  );

  it.each(['wrong_id', 'deaf', 'stuck', 'no_output'])(
    'gives no answer (%s) is a failure at the deadline, and the next call is answered',
    async (tool) => {
      await call(tool, 'echo');
      const started = performance.now();
      const reason = expect.stringMatching(tool === 'no_output' ? /^(?:deadline|mcp_died)$/ : /^deadline$/);
      expect(await call(tool, tool, {}, 500)).toMatchObject({ kind: 'failure', reason });
      expect(performance.now() - started).toBeLessThan(5000);
      expect(await call(tool, 'echo')).toMatchObject(fine);
    },
  );

  it('answers with an id that nobody asked for is told so', async () => {
    const outcome = await call('wrong_id', 'wrong_id', {}, 500);
    expect(outcome).toMatchObject({
      data: { not_understood: { first: expect.stringContaining('unknown message ID') } },
    });
  });

  it('answers late is told that the call is off, and confuses no other call', async () => {
    await call('late', 'echo');
    const late = call('late', 'late', { ms: 700, which: 'late' }, 300);
    const other = call('late', 'late', { ms: 1200, which: 'other' });
    expect(await late).toMatchObject({ reason: 'deadline' });
    expect(await other).toMatchObject({ value: { data: { args: { which: 'other' } } } });
    expect(await call('late', 'cancelled')).toMatchObject({
      value: { data: { cancelled: [expect.any(Number)] } },
    });
  });

  it('floods its standard error is read on', async () => {
    const before = process.memoryUsage().rss;
    expect(await call('flood', 'flood')).toMatchObject(fine);
    expect(await call('flood', 'die')).toMatchObject({
      data: { raw_output: expect.stringMatching(/the end/) },
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
  });

  it('prints what is no message is understood all the same', async () => {
    expect(await call('garbage', 'garbage')).toMatchObject(fine);
    expect(await call('garbage', 'die')).toMatchObject({ data: { not_understood: { messages: 4 } } });
  });

  it('never gets ready is a failure at the deadline of the call', async () => {
    expect(await call('never', 'echo', {}, 500)).toMatchObject({
      reason: 'deadline',
      message: expect.stringContaining('it was not ready'),
    });
  });

  it('dies at once three times is left alone for some seconds, and it is said why', async () => {
    const outcomes = [];
    for (let n = 0; n < 4; n++) outcomes.push(await call('dies', 'echo'));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        reason: 'mcp_not_started',
        message: expect.stringMatching(
          /dies ended with exit code 7 before it was ready; it said last: no licence found/,
        ),
        data: { raw_output: 'no licence found\n' },
      });
    expect(outcomes.at(-1)).toMatchObject({
      message: expect.stringMatching(/; it is tried again in [1-5] s$/),
    });
  });

  it('lacks a package is told what it may read', async () => {
    expect(await call('lacks', 'echo')).toMatchObject({
      reason: 'mcp_not_started',
      message: expect.stringMatching(
        /^the MCP server lacks ended with exit code 1 before it was ready; it said: Error: Cannot find module '@somebody\/package'; in the sandbox it reads only what is under its paths \(mcp_servers\.lacks\.paths in the settings\)/,
      ),
    });
  });

  it('ends right after its greeting is a failure', async () => {
    expect(await call('greets', 'echo')).toMatchObject({
      reason: expect.stringMatching(/^mcp_(?:died|not_started)$/),
      message: expect.stringContaining('ended with exit code 5'),
    });
  });

  it('lists tools without end is a failure', async () => {
    expect(await call('endless', 'echo')).toMatchObject({ reason: 'mcp_malformed' });
  });

  it('is not there is a failure that names the program', async () => {
    expect(await call('absent', 'echo')).toMatchObject({
      kind: 'failure',
      message: expect.stringContaining('no-such-program'),
    });
  });

  it('needs a variable that is not set is not started', async () => {
    expect(await call('unset', 'echo')).toMatchObject({
      reason: 'mcp_not_configured',
      message: expect.stringContaining('SLUICE_TEST_UNSET (for TOKEN)'),
    });
  });

  it('becomes a writer under the hands of a validation is not called', async () => {
    expect(await call('change', 'change', { annotations: { readOnlyHint: false } })).toMatchObject(fine);
    expect(await call('change', 'echo')).toMatchObject({ reason: 'mcp_not_read_only' });
    expect(await call('change', 'silent')).toMatchObject(fine);
    expect(await call('change', 'write')).toMatchObject({ reason: 'mcp_not_read_only' });
  });

  it('has one slow call is used by others meanwhile, over the same session', async () => {
    const pid = await pidOf('many');
    const slow = call('many', 'late', { ms: 1000 });
    const quick = await Promise.all(Array.from({ length: 50 }, () => pidOf('many')));
    expect(new Set(quick)).toEqual(new Set([pid]));
    expect(await slow).toMatchObject(fine);
  });

  it('is in a call that is aborted is told so, and the abort is thrown', async () => {
    await call('abort', 'echo');
    const abort = new AbortController();
    const aborted = runner.run(mcpCall(mcpDocument('abort', 'deaf')), abort.signal);
    setTimeout(() => abort.abort(new Error('drained')), 50);
    await expect(aborted).rejects.toThrow('drained');
    expect(await call('abort', 'cancelled')).toMatchObject({
      value: { data: { cancelled: [expect.any(Number)] } },
    });
  });

  it('is closed in the middle of a call fails that call', async () => {
    const own = new McpRunner({ close: byHand() }, processes, {});
    const run = (tool: string) => own.run(mcpCall(mcpDocument('close', tool)), living());
    await run('echo');
    const under = run('deaf');
    await own.close();
    expect(await under).toMatchObject({ outcome: { kind: 'failure', reason: 'mcp_died' } });
    expect(await run('echo')).toMatchObject({ outcome: { reason: 'mcp_closed' } });
  });
});

/** Answers requests of the protocol over HTTP until `tools/call`, which the test answers. */
function overHttp(onCall: (response: ServerResponse, id: number, request: IncomingMessage) => void) {
  return httpServer((request, response, body) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return void response.writeHead(202).end();
    const answer = (result: unknown) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    const serverInfo = { name: 'over-http', version: '1' };
    if (method === 'initialize')
      return void answer({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo,
      });
    if (method === 'tools/list')
      return void answer({ tools: [{ name: 'x', inputSchema: { type: 'object' } }] });
    if (method === 'ping') return void answer({});
    onCall(response, id, request);
  });
}

const STREAM = { 'content-type': 'text/event-stream' };

describe.concurrent('a server over HTTP that', () => {
  const cases: [string, (response: ServerResponse) => void, string][] = [
    ['breaks off its answer', (r) => r.writeHead(200, STREAM).end(': nothing\n\n'), 'mcp_died'],
    ['hangs up', (r) => r.destroy(), 'mcp_died'],
    [
      'hangs up in its answer',
      (r) => void r.writeHead(200, STREAM).write('data: {', () => r.destroy()),
      'mcp_died',
    ],
    ['gives no answer', () => {}, 'deadline'],
    ['starts no answer', (r) => r.writeHead(200, STREAM).flushHeaders(), 'deadline'],
    ['fails', (r) => r.writeHead(500).end('out of order'), 'mcp_error'],
    ['answers in HTML', (r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), 'mcp_malformed'],
    [
      'answers with no JSON',
      (r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'mcp_malformed',
    ],
    ['sends elsewhere', (r) => r.writeHead(307, { location: 'http://localhost:9/' }).end(), 'mcp_error'],
    [
      'never ends its answer',
      (r) => {
        r.writeHead(200, STREAM);
        const more = () => {
          while (!r.destroyed && r.write('x'.repeat(2 ** 20)));
          if (!r.destroyed) r.once('drain', more);
        };
        more();
      },
      'mcp_too_large',
    ],
  ];

  it.each(cases)('%s is a failure', async (_what, onCall, reason) => {
    const server = await overHttp(onCall);
    const settings = { url: server.url, headers: {}, headers_from: {}, sessions: 1 };
    const own = new McpRunner({ http: settings }, processes, {});
    try {
      const ran = await own.run(
        mcpCall(mcpDocument('http', 'x'), {}, reason === 'deadline' ? 500 : 15_000),
        living(),
      );
      expect(ran).toMatchObject({ readOnly: 'declared', outcome: { kind: 'failure', reason } });
    } finally {
      await own.close();
      await server.close();
    }
  });
});
