import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Activations } from '../../src/app/tools/activations.js';
import { ToolCaller } from '../../src/app/tools.js';
import { saysReadOnly } from '../../src/core/registry/capability.js';
import { resolveTool } from '../../src/core/registry/closure.js';
import type { JsonObject, Registry } from '../../src/core/registry/model.js';
import { planRegistration } from '../../src/core/registry/register.js';
import { readDocuments } from '../../src/inputs/documents.js';
import { McpRunner, type McpServerSettings } from '../../src/runners/mcp/runner.js';
import { createMatcher } from '../../src/runners/pattern-matcher.js';
import { LocalProcesses } from '../../src/runners/process/processes.js';
import { QuickJsInterpreter } from '../../src/runners/quickjs.js';
import { runSluice } from '../support/cli.js';
import {
  byHand,
  EVERYTHING_HTTP,
  filesystemServer,
  httpServer,
  mcpCall,
  mcpDocument,
} from '../support/mcp-servers.js';
import { noSandbox, SETTINGS } from '../support/sandboxed.js';
import { newTraces, type Traces, traces } from '../support/traces.js';

const WRITES = { capability: { read_only: false, writes: true, checkpointable: false, network: false } };
const EMPTY: Registry = { revision: 0, entries: new Map(), attachments: [] };

let before: Traces;
let folder: string;
let file: string;
let everything: { url: string; stop(): Promise<void> };
let servers: Record<string, McpServerSettings>;
let runner: McpRunner;

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startEverything(port: number): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, EVERYTHING_HTTP, {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk) => /listening/.test(String(chunk)) && resolve());
    void ended.then(() => reject(new Error('the server ended at once')));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

beforeAll(async () => {
  // Building leaves a process of its own behind.
  await runSluice(['--version']);
  before = traces();
  folder = await mkdtemp(join(tmpdir(), 'mcp-files-'));
  await chmod(folder, 0o777);
  file = join(folder, 'report.txt');
  await writeFile(file, 'three lines\nof text\nhere\n');
  everything = await startEverything(await freePort());
  servers = {
    files: filesystemServer(folder),
    everything: { url: everything.url, headers: {}, headers_from: {}, sessions: 1 },
    hand: byHand(),
  };
  runner = new McpRunner(servers, new LocalProcesses(SETTINGS), {});
});

afterAll(async () => {
  await runner.close();
  await everything.stop();
  await rm(folder, { recursive: true });
  // Files of others come and go meanwhile.
  const left = (await newTraces(before)).filter((trace) => !trace.startsWith('file '));
  expect(left).toEqual([]);
});

const run = (server: string, tool: string, args: JsonObject, more = {}, deadlineMs = 20_000) =>
  runner.run(mcpCall(mcpDocument(server, tool, more), args, deadlineMs), new AbortController().signal);

describe.skipIf(noSandbox !== undefined)('a server that was given a secret', () => {
  const SECRET = 'correct "horse" battery';
  const env = { SLUICE_TEST_SECRET: SECRET, SLUICE_TEST_HEADER: `Bearer ${SECRET}` };
  const told = async (own: McpRunner, server: string, how: string) => {
    const call = mcpCall(mcpDocument(server, 'leak'), { how });
    const { outcome } = await own.run(call, new AbortController().signal);
    const text = JSON.stringify(outcome);
    // What follows may be cut off.
    expect(text).toContain('[red');
    expect(text).not.toMatch(/corr|horse/);
    return outcome;
  };

  it('cannot put it into anything that it says', async () => {
    const hands = byHand('good', { env_from: { TOKEN: 'SLUICE_TEST_SECRET' } });
    const own = new McpRunner({ hands }, new LocalProcesses(SETTINGS), env);
    try {
      const hidden = { passed: false, message: '[redacted]', data: { '[redacted]': ['[redacted]'] } };
      expect(await told(own, 'hands', 'value')).toEqual({ kind: 'value', value: hidden });
      expect(await told(own, 'hands', 'text')).toEqual({ kind: 'value', value: { secret: '[redacted]' } });
      for (const how of ['tool_error', 'error', 'died', 'noise'])
        expect(await told(own, 'hands', how)).toMatchObject({ kind: 'failure' });
    } finally {
      await own.close();
    }
  });

  it('cannot put it into a refusal over HTTP', async () => {
    const server = await httpServer(({ headers }, response) => {
      response.writeHead(500).end(`${'x'.repeat(100)} ${headers.authorization?.replace('Bearer ', '')}`);
    });
    const headers_from = { Authorization: 'SLUICE_TEST_HEADER' };
    const settings = { url: server.url, headers: {}, headers_from, sessions: 1 };
    const own = new McpRunner({ remote: settings }, new LocalProcesses(SETTINGS), env);
    try {
      expect(await told(own, 'remote', 'value')).toMatchObject({ kind: 'failure' });
    } finally {
      await own.close();
      await server.close();
    }
  });
});

describe.skipIf(noSandbox !== undefined)('a real server of files, in the sandbox', () => {
  it('reads a file of the folder that it was given', async () => {
    expect(await run('files', 'read_text_file', { path: file })).toEqual({
      outcome: { kind: 'value', value: { content: 'three lines\nof text\nhere\n' } },
      readOnly: 'enforced',
    });
  });

  it('is not asked to write by what is registered as read-only', async () => {
    const { outcome } = await run('files', 'write_file', { path: join(folder, 'new.txt'), content: 'x' });
    expect(outcome).toMatchObject({
      reason: 'mcp_not_read_only',
      message:
        'local/write_file was not called: it is registered as read-only, and the tool "write_file" of the MCP server files is annotated as destructive by now',
    });
  });

  it('cannot write even where it is asked to', async () => {
    const args = { path: join(folder, 'new.txt'), content: 'x' };
    const { outcome } = await run('files', 'write_file', args, WRITES);
    expect(outcome).toMatchObject({
      reason: 'mcp_tool_error',
      message: expect.stringMatching(/EROFS|read-only/),
    });
    expect(await readdir(folder)).toEqual(['report.txt']);
  });

  it('is not called without what its schema requires, and it is said what is missing', async () => {
    const document = mcpDocument('files', 'read_text_file', {
      arguments: { path: { from: '/subject/reprot' } },
    });
    const call = { ...mcpCall(document, { head: 1 }), subject: { report: file } };
    const [mapped, bare, whole] = await Promise.all([
      runner.run(call, new AbortController().signal),
      run('files', 'read_text_file', { head: 1 }),
      runner.run({ ...call, subject: { reprot: file } }, new AbortController().signal),
    ]);
    const requires =
      'local/read_text_file was not called: the tool "read_text_file" of the MCP server files requires the argument "path", which';
    expect(mapped.outcome).toEqual({
      kind: 'failure',
      reason: 'arguments',
      message: `${requires} comes from /subject/reprot, where nothing is: /subject has report; did you mean /subject/report?`,
    });
    expect(bare.outcome).toEqual({
      kind: 'failure',
      reason: 'arguments',
      message: `${requires} is not among those of the call: head`,
    });
    expect(whole.outcome).toMatchObject({ kind: 'value', value: { content: 'three lines' } });
  });

  it('says in its own words what it cannot find', async () => {
    const { outcome } = await run('files', 'read_text_file', { path: '/etc/passwd' });
    expect(outcome).toMatchObject({
      reason: 'mcp_tool_error',
      message: expect.stringMatching(/Access denied/),
    });
  });

  it('is judged by a validation that is wrapped around its tool, given the snapshot', async () => {
    const documents = [
      {
        kind: 'tool',
        name: 'read',
        mcp_server: 'files',
        mcp_tool_name: 'read_text_file',
        read_only: true,
        arguments: { path: { from: '/subject/report' } },
        input_schema: { type: 'object', properties: { head: { type: 'integer' } } },
      },
      {
        kind: 'validation',
        name: 'short',
        wraps: 'read',
        transform:
          '(output) => ({ passed: output.content.split("\\n").length < 4, message: output.content.split("\\n")[0] })',
      },
    ];
    const given = documents.map((value) => ({ kind: 'tool' as const, value }));
    const plan = planRegistration(EMPTY, given, 0, 'test');
    if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
    const entries = new Map(plan.change.put.map((entry) => [entry.document.name, entry]));
    const interpreter = new QuickJsInterpreter();
    const host = { serves: [], platform: 'linux', arch: 'x64', node: 'v20' };
    const caller = new ToolCaller({
      interpreter,
      matcher: createMatcher({ deadlineMs: 1000 }),
      tools: { runners: { mcp: runner }, missing: {} },
      activations: new Activations({ interpreter, host }),
    });
    const call = (args: JsonObject) => {
      const input = { args, subject: { report: file }, resource: 'report/q3', slot: null };
      return caller.call(resolveTool({ entries }, 'short'), input, new AbortController().signal);
    };
    expect(await call({})).toMatchObject({
      outcome: { verdict: { outcome: 'fail', message: 'three lines' } },
    });
    expect(await call({ head: 2 })).toMatchObject({
      outcome: { verdict: { outcome: 'pass' } },
      readOnly: 'enforced',
    });
  });
});

describe('a real server over streamable HTTP', () => {
  it('answers with structured content, and its results are declared read-only', async () => {
    expect(await run('everything', 'get-structured-content', { location: 'Chicago' })).toEqual({
      outcome: { kind: 'value', value: expect.objectContaining({ temperature: expect.any(Number) }) },
      readOnly: 'declared',
    });
  });

  it('sends images, of which the size is kept', async () => {
    const { outcome } = await run('everything', 'get-tiny-image', {});
    expect(outcome).toMatchObject({
      value: { content: [{ type: 'text' }, { type: 'image', bytes: 4033 }, { type: 'text' }] },
    });
  });

  it('is late, and still there for the next call', async () => {
    const args = { duration: 3, steps: 3 };
    expect(await run('everything', 'trigger-long-running-operation', args, {}, 200)).toMatchObject({
      outcome: { reason: 'deadline' },
    });
    expect(await run('everything', 'echo', { message: 'hi' })).toMatchObject({
      outcome: { value: { content: [{ text: 'Echo: hi' }] } },
    });
  });

  it('is lost in a call and comes back without its sessions', async () => {
    await run('everything', 'echo', { message: 'hi' });
    const port = Number(new URL(everything.url).port);
    await everything.stop();
    everything = await startEverything(port);
    expect(await run('everything', 'echo', { message: 'again' })).toMatchObject({
      outcome: { value: { content: [{ text: 'Echo: again' }] } },
    });
    await everything.stop();
    const { outcome } = await run('everything', 'echo', { message: 'hi' });
    expect(outcome).toMatchObject({
      reason: 'mcp_unreachable',
      message: expect.stringMatching(/ECONNREFUSED/),
    });
    everything = await startEverything(port);
    expect(await run('everything', 'echo', { message: 'hi' })).toMatchObject({ outcome: { kind: 'value' } });
  });
});

describe.skipIf(noSandbox !== undefined).concurrent('on the command line', () => {
  const config = async (name: string, mcp_servers: unknown = servers) => {
    const path = join(folder, `${name}.yaml`);
    await writeFile(path, stringify({ mcp_servers }));
    return path;
  };

  it('the tools of a server are printed as documents that can be registered', async () => {
    const { exitCode, stdout, stderr } = await runSluice([
      ...['tool', 'discover', 'files', '--config', await config('discover')],
    ]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const { given } = await readDocuments(['-'], 'tool', Readable.from([Buffer.from(stdout)]));
    const plan = planRegistration(EMPTY, given, 0, 'test');
    if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
    expect(plan.report.map(({ name }) => name)).toContain('files/read_text_file');
    for (const { document } of plan.change.put) {
      const { annotations, capability } = document as {
        annotations: JsonObject;
        capability: { writes: boolean };
      };
      expect(capability.writes).toBe(!saysReadOnly(annotations));
    }
  });

  it('tools that write are left out of validations, and it is said why', async () => {
    const { exitCode, stdout, stderr } = await runSluice([
      ...['tool', 'discover', 'hand', '--as', 'validation', '--namespace', 'mine', '--json'],
      ...['--config', await config('validations')],
    ]);
    expect(exitCode).toBe(0);
    const names = JSON.parse(stdout).map(({ name }: { name: string }) => name);
    expect(names).toContain('mine/echo');
    expect(names).not.toContain('mine/write');
    expect(stderr).toContain('sluice: left out write: its annotations say');
    expect(stderr).toContain('sluice: left out silent: it has no annotations');
  });

  it('a server that is not in the settings is refused with the nearest name', async () => {
    const { exitCode, stdout, stderr } = await runSluice([
      ...['tool', 'discover', 'fils', '--config', await config('unknown')],
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('found fils; allowed: files, everything, hand; did you mean "files"?');
  });

  it('a server that cannot be started is told with what it said', async () => {
    const file = await config('broken', { broken: byHand('dies') });
    const { exitCode, stderr } = await runSluice(['tool', 'discover', 'broken', '--config', file]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('the MCP server broken ended with exit code 7');
    expect(stderr).toContain('no licence found');
  });

  it('doctor says which servers answer', async () => {
    const file = await config('doctor', { hand: byHand(), broken: byHand('dies') });
    const { stdout } = await runSluice(['doctor', '--json', '--config', file]);
    const found = JSON.parse(stdout).checks.filter(({ name }: { name: string }) => name === 'mcp');
    expect(found).toMatchObject([
      { status: 'ok', found: expect.stringMatching(/^the MCP server hand lists 19 tools, after \d+ ms$/) },
      { status: 'warn', found: expect.stringContaining('no licence found') },
    ]);
  });
});
