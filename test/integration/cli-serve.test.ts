import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from '../../src/http/operations/examples.js';
import { makeCertificate } from '../support/certificate.js';
import { runSluice, spawnSluice, waitForExit } from '../support/cli.js';
import { requestedEvent } from '../support/commands.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let dir: string;
let redis: TestRedis;
const running: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-serve-'));
  redis = await startTestRedis();
  // Builds the command line when the sources are newer.
  await sluice('--version');
}, 120_000);
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

const place = (fleet: string) => ['--redis', redis.url, '--fleet', fleet];
const sluice = (...args: string[]) => runSluice(args, { cwd: dir });

/** Starts a command and waits for its one JSON line; `end` tells it to end and answers with its exit. */
async function start(...args: string[]) {
  const child = await spawnSluice([...args, '--json'], { cwd: dir });
  running.push(child);
  const exit = waitForExit(child);
  const early = exit.then(({ stderr }) => {
    throw new Error(`it ended by itself: ${stderr}`);
  });
  early.catch(() => {});
  const [line] = await Promise.race([once(child.stdout, 'data'), early]);
  const announced = JSON.parse(String(line)) as { url: string; [key: string]: unknown };
  return {
    announced,
    pid: child.pid,
    end: () => {
      child.kill('SIGTERM');
      return exit;
    },
  };
}

async function makeToken(fleet: string, role: string): Promise<string> {
  const { stdout } = await sluice('token', 'add', `the-${role}`, '--role', role, ...place(fleet), '--json');
  return (JSON.parse(stdout) as { token: string }).token;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

describe('sluice serve', () => {
  it('serves with the tokens that sluice token makes, until it is told to end', async () => {
    const server = await start('serve', ...place('serves'), '--listen', '127.0.0.1:0');
    const { url } = server.announced;
    expect(server.announced).toMatchObject({ role: 'server', fleet: 'serves', sources: 0 });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    const token = await makeToken('serves', 'submit');
    const body = JSON.stringify({ scenario: EXAMPLE_SCENARIO, run: EXAMPLE_RUN });
    const response = await fetch(`${url}/v1/evaluations`, { method: 'POST', headers: bearer(token), body });
    expect(response.status).toBe(202);
    expect((await fetch(`${url}/v1/plans`)).status).toBe(401);
    const { exitCode, stderr } = await server.end();
    expect(exitCode).toBe(0);
    expect(stderr).toContain('there is no token yet');
    expect(stderr).not.toContain(token);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('serves HTTPS with certificate and key of the settings', async () => {
    const { certFile, keyFile, cert, remove } = await makeCertificate();
    await writeFile(
      join(dir, 'tls.yaml'),
      `http: { cert: '${certFile}', key: '${keyFile}', listen: '127.0.0.1:0' }\n`,
    );
    const server = await start('serve', ...place('secure'), '--config', 'tls.yaml');
    expect(server.announced.url).toMatch(/^https:/);
    const asking = request(`${server.announced.url}/healthz`, { ca: cert });
    asking.end();
    const [response] = await once(asking, 'response');
    response.resume();
    expect(response.statusCode).toBe(200);
    expect(response.headers['strict-transport-security']).toContain('max-age');
    expect((await server.end()).exitCode).toBe(0);
    await remove();
  });

  it('takes the commands of a Redis stream, and sends events into another', async () => {
    const server = await start(
      'up',
      ...place('streams'),
      '--workers',
      '1',
      '--source',
      'redis-stream=commands-in',
      '--sink',
      'redis-stream=events-out',
    );
    const client = new Redis(redis.url);
    await client.xadd('commands-in', '*', 'event', JSON.stringify(requestedEvent('over-redis')));
    const types = async () =>
      (await client.xrange('events-out', '-', '+')).map(([, fields]) => JSON.parse(fields[5] ?? '').type);
    await expect
      .poll(types, { timeout: 20_000 })
      .toEqual(['dev.sluice.evaluation.accepted.v1', 'dev.sluice.evaluation.passed.v1']);
    client.disconnect();
    expect((await server.end()).exitCode).toBe(0);
  });

  it('warns where tokens would be sent in the clear', async () => {
    const server = await start('serve', ...place('open'), '--listen', '0.0.0.0:0');
    expect((await server.end()).stderr).toContain('tokens are sent in the clear');
  });

  it('refuses what it cannot use, every problem at once', async () => {
    const answer = await sluice(
      'serve',
      ...place('no'),
      '--listen',
      'here',
      '--source',
      'redis-strem=x',
      '--json',
    );
    expect(answer.exitCode).toBe(2);
    const { error } = JSON.parse(answer.stdout) as { error: { problems: { path: string }[] } };
    expect(error.problems.map(({ path }) => path).sort()).toEqual(['--listen', '--source']);
  });
});

/** Most memory that a process had so far, in MiB; Linux alone tells it. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

describe('a large upload', () => {
  it.runIf(process.platform === 'linux')('is taken in constant memory', async () => {
    const server = await start('serve', ...place('large'), '--listen', '127.0.0.1:0');
    const { url } = server.announced;
    const headers = bearer(await makeToken('large', 'submit'));
    const scenarios = JSON.stringify({ scenarios: [EXAMPLE_SCENARIO] });
    await fetch(`${url}/v1/batches/b`, { method: 'PUT', headers, body: scenarios });
    const plan = 'x'.repeat(256 * 1024);
    // Broken at its end, so that all of it is read and kept, and none of it judged.
    const lines = function* () {
      for (let n = 0; n < 2400; n += 1) yield `{"id":"r${n}","job":{"plan":"${plan}"}}\n`;
      yield 'broken\n';
    };
    const before = await peakOf(server.pid);
    const response = await fetch(`${url}/v1/batches/b/runs`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: Readable.toWeb(Readable.from(lines(), { objectMode: false })) as ReadableStream,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ problems: [{ line: 2401 }] });
    expect((await peakOf(server.pid)) - before).toBeLessThan(250);
    expect((await server.end()).exitCode).toBe(0);
  });
});

describe('sluice up', () => {
  it('with --listen judges what comes over HTTP', async () => {
    const up = await start('up', ...place('whole'), '--workers', '1', '--listen', '127.0.0.1:0');
    const { url } = up.announced;
    const token = await makeToken('whole', 'submit');
    const body = JSON.stringify({ scenario: EXAMPLE_SCENARIO, run: EXAMPLE_RUN });
    const response = await fetch(`${url}/v1/evaluations`, { method: 'POST', headers: bearer(token), body });
    const { evaluation } = (await response.json()) as { evaluation: string };
    const ask = async () =>
      (await fetch(`${url}/v1/evaluations/${evaluation}`, { headers: bearer(token) })).json();
    await expect.poll(ask, { timeout: 20_000 }).toMatchObject({ state: 'decided', actor: 'the-submit' });
    expect((await up.end()).exitCode).toBe(0);
  });
});

describe('sluice token', () => {
  it('shows a token once, lists it without it, and ends it', async () => {
    const { stdout, exitCode } = await sluice(
      'token',
      'add',
      'ci',
      '--role',
      'read',
      '--expires',
      '90d',
      ...place('tk'),
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^slu_[A-Za-z0-9_-]{43}\n$/);
    const listed = await sluice('token', 'list', ...place('tk'), '--json');
    expect(listed.stdout).not.toContain(stdout.trim());
    expect(JSON.parse(listed.stdout)).toMatchObject({
      tokens: [{ name: 'ci', role: 'read', expired: false }],
    });
    const twice = await sluice('token', 'add', 'ci', '--role', 'read', ...place('tk'));
    expect([twice.exitCode, twice.stdout]).toEqual([2, '']);
    expect((await sluice('token', 'remove', 'ci', ...place('tk'))).exitCode).toBe(0);
    const gone = await sluice('token', 'remove', 'ci', ...place('tk'));
    expect([gone.exitCode, gone.stderr]).toEqual([2, expect.stringContaining('no token "ci"')]);
  });

  it('refuses a role that there is not, and a time that is none', async () => {
    const { exitCode, stderr } = await sluice(
      'token',
      'add',
      'x',
      '--role',
      'reader',
      '--expires',
      'soon',
      ...place('tk'),
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain('did you mean "read"');
    expect(stderr).toContain('--expires');
  });
});
