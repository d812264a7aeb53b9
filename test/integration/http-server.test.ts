import { once } from 'node:events';
import { request as ask } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BatchIntake } from '../../src/app/intake/batches.js';
import { Tokens } from '../../src/app/tokens.js';
import { batchesOf } from '../../src/compose/batches.js';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from '../../src/http/operations/examples.js';
import type { Listen } from '../../workers/listening.js';
import { startServer } from '../../workers/server.js';
import { configWith, openTestFleet, type TestFleet } from '../support/fleet.js';
import { startTestServer, type TestServer } from '../support/http.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis;
let fleet: TestFleet;
let server: TestServer;

beforeAll(async () => {
  redis = await startTestRedis({ appendonly: true });
});
afterAll(() => redis?.stop());

beforeEach(async () => {
  fleet = await openTestFleet(redis.url, configWith());
  server = await startTestServer(fleet.engine);
});
afterEach(async () => {
  await server.close();
  await fleet.close();
});

interface Problem {
  type: string;
  status: number;
  code: string;
  detail: string;
  problems: { path: string; message: string; nearest?: string; allowed?: string[] }[];
}
const problemIn = async (response: Response) => {
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  return (await response.json()) as Problem;
};

const evaluation = { scenario: EXAMPLE_SCENARIO, run: EXAMPLE_RUN };
const submit = (options: Parameters<TestServer['ask']>[2] = {}) =>
  server.ask('POST', '/v1/evaluations', { body: evaluation, ...options });

/** What a server sends on a connection until it ends it. */
async function converse(text: string, port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  socket.write(text);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('utf8');
}

const portOf = (of: TestServer) => (of.app.server.address() as AddressInfo).port;

describe('an evaluation', () => {
  it('is submitted once for a key, decided, and read with its actor', async () => {
    const headers = { 'idempotency-key': 'k1' };
    const first = await submit({ headers, token: server.tokens.submit });
    expect(first.status).toBe(202);
    const { evaluation: id } = (await first.json()) as { evaluation: string };
    expect(first.headers.get('location')).toBe(`/v1/evaluations/${id}`);
    const again = await submit({ headers, token: server.tokens.submit });
    expect(await again.json()).toEqual({ evaluation: id, repeated: true });
    const other = await submit({
      headers,
      token: server.tokens.submit,
      body: { ...evaluation, run: { id: 'other' } },
    });
    expect(await problemIn(other)).toMatchObject({ status: 409, code: 'IDEMPOTENCY_CONFLICT' });
    const mine = await submit({ headers, token: server.tokens.operate });
    expect(await mine.json()).toMatchObject({ repeated: false });
    await expect
      .poll(async () => (await server.ask('GET', `/v1/evaluations/${id}`)).json(), { timeout: 15_000 })
      .toMatchObject({ state: 'decided', actor: 'submitter', batch: null, decision: { passed: true } });
  });

  it('that is wrong in many places is refused with all of them', async () => {
    const { validation } = EXAMPLE_SCENARIO;
    const response = await submit({
      body: {
        scenario: { key: 's', validation: { ...validation, jobs: [] } },
        run: { tasks: 1 },
        strct: true,
      },
    });
    expect(response.status).toBe(400);
    expect((await problemIn(response)).problems).toMatchObject([{ path: 'strct', nearest: 'strict' }]);
    const inside = await submit({
      body: { scenario: { key: 's', validation: { ...validation, jobs: [] } }, run: { tasks: 1 } },
    });
    expect((await problemIn(inside)).problems.map(({ path }) => path).sort()).toEqual([
      'run.id',
      'run.tasks',
      'scenario.validation.jobs',
    ]);
  });
});

describe('what is refused before an operation', () => {
  it('names the nearest path, and the methods that a path takes', async () => {
    const lost = await problemIn(await server.ask('GET', '/v1/evaluation/abc'));
    expect(lost).toMatchObject({
      type: 'urn:sluice:problem:not-found',
      status: 404,
      problems: [{ nearest: '/v1/evaluations/{evaluation}' }],
    });
    const wrong = await server.ask('PATCH', '/v1/batches/abc');
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, PUT');
    const head = await server.ask('HEAD', '/v1/events');
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET, POST']);
    expect(await problemIn(wrong)).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
  });

  it('is told with a problem each', async () => {
    const large = { run: EXAMPLE_RUN, scenario: { title: 'x'.repeat(11 * 2 ** 20) } };
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const cases = [
      [submit({ body: large }), 413, 'TOO_LARGE'],
      [submit({ body: deep }), 400, 'INVALID_REQUEST'],
      [submit({ headers: { 'content-type': 'text/plain' } }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [submit({ headers: { 'content-encoding': 'gzip' } }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [submit({ headers: { accept: 'text/html' } }), 406, 'NOT_ACCEPTABLE'],
      [submit({ headers: { 'idempotency-key': 'a b' } }), 400, 'INVALID_REQUEST'],
      [submit({ headers: { authorization: 'Basic abc' }, token: null }), 401, 'UNAUTHORIZED'],
      [submit({ token: `slu_${'x'.repeat(43)}` }), 401, 'UNAUTHORIZED'],
      [server.ask('GET', '/v1/batches/%E0%A4%A'), 400, 'INVALID_REQUEST'],
      [server.ask('GET', '/v1/batches/x/evaluations?cursor=abc'), 404, 'NOT_FOUND'],
      [server.ask('GET', '/v1/dead-letters?cursor=abc'), 400, 'INVALID_REQUEST'],
      [server.ask('GET', `/v1/evaluations/${'x'.repeat(3000)}`), 414, 'INVALID_REQUEST'],
    ] as const;
    for (const [asked, status, code] of cases) {
      const response = await asked;
      const problem = await problemIn(response);
      expect([response.status, problem.code, problem.status], problem.detail).toEqual([status, code, status]);
    }
  });

  it('is told where Node would end without a word', async () => {
    for (const [text, status] of [
      ['GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
      ['GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n', 417],
    ] as const) {
      const answer = await converse(text, portOf(server));
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toMatch(/application\/problem\+json[\s\S]*"code":"INVALID_REQUEST"/);
    }
  });

  it('is told where there is no HTTP at all, and the server goes on', async () => {
    expect(await converse('HELO mail\r\n\r\n', portOf(server))).toMatch(
      /^HTTP\/1.1 400 [\s\S]*"code":"INVALID_REQUEST"/,
    );
    const huge = `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`;
    expect(await converse(huge, portOf(server))).toMatch(/^HTTP\/1.1 431 /);
    expect((await server.ask('GET', '/healthz')).status).toBe(200);
  });
});

describe('tokens', () => {
  it('end at their time, and at once when they are removed', async () => {
    const { clock, store } = fleet.engine;
    let now = clock.now();
    const tokens = new Tokens({ tokens: store.tokens, clock: { now: () => now } });
    const { value } = await tokens.add('brief', 'read', 1000);
    expect(await tokens.find(value)).toMatchObject({ name: 'brief' });
    now += 1000;
    expect(await tokens.find(value)).toBeUndefined();
    const { value: removed } = await tokens.add('other', 'read');
    expect((await server.ask('GET', '/v1/plans', { token: removed })).status).toBe(200);
    await tokens.remove('other');
    const response = await server.ask('GET', '/v1/plans', { token: removed });
    expect(response.headers.get('www-authenticate')).toContain('invalid_token');
    expect(response.status).toBe(401);
  });

  it('are stored as digests alone', async () => {
    const stored = JSON.stringify(await fleet.engine.store.tokens.list());
    for (const value of Object.values(server.tokens)) expect(stored).not.toContain(value);
  });

  it('have a limit of requests each, and so has an address that guesses', async () => {
    await server.close();
    server = await startTestServer(fleet.engine, {}, { rate: 5 });
    const get = (token: string) => server.ask('GET', '/v1/plans', { token });
    const statuses: number[] = [];
    for (let n = 0; n < 7; n += 1) statuses.push((await get(server.tokens.read)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const limited = await get(server.tokens.read);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await problemIn(limited)).toMatchObject({ code: 'RATE_LIMITED' });
    expect((await get(server.tokens.submit)).status).toBe(200);
    const guesses: number[] = [];
    for (let n = 0; n < 7; n += 1) guesses.push((await get(`slu_${String(n).repeat(43)}`)).status);
    expect(guesses).toEqual([401, 401, 401, 401, 401, 429, 429]);
    // One that is right tells nothing any more, and one that was used before goes on.
    expect((await get(server.tokens.operate)).status).toBe(429);
    expect((await get(server.tokens.submit)).status).toBe(200);
  });
});

describe('a server behind a proxy', () => {
  it('limits the address that the proxy saw, whatever the client says it is', async () => {
    await server.close();
    server = await startTestServer(fleet.engine, {}, { rate: 3, trust_proxy: true });
    const guess = async (forwarded: string) => {
      const headers = { 'x-forwarded-for': forwarded };
      return (await server.ask('GET', '/v1/plans', { token: `slu_${'x'.repeat(43)}`, headers })).status;
    };
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) statuses.push(await guess(`198.51.100.${n}, 203.0.113.9`));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(await guess('198.51.100.1, 203.0.113.8')).toBe(401);
  });
});

describe('headers', () => {
  it('are safe, and name the request', async () => {
    const { headers } = await server.ask('GET', '/v1/plans');
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  it('allow the origins that are set, and no other', async () => {
    await server.close();
    server = await startTestServer(fleet.engine, {}, { cors: ['https://app.example.com/'] });
    const preflight = (origin: string) =>
      server.ask('OPTIONS', '/v1/plans', {
        token: null,
        headers: { origin, 'access-control-request-method': 'POST' },
      });
    const allowed = await preflight('https://app.example.com');
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    const other = await preflight('https://evil.example.com');
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a server while Redis is away', () => {
  it('says so, and goes on once it is back', async () => {
    await redis.kill();
    const ready = await server.ask('GET', '/readyz', { token: null });
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'unavailable', roles: {} }]);
    expect((await server.ask('GET', '/healthz', { token: null })).status).toBe(200);
    const waiting = submit({ headers: { 'idempotency-key': 'outage' } });
    await redis.restart();
    expect((await waiting).status).toBe(202);
    await expect
      .poll(async () => (await server.ask('GET', '/readyz', { token: null })).status, { timeout: 10_000 })
      .toBe(200);
  });
});

describe('an upload of which Redis goes away in the middle', () => {
  it('is answered in time, and once it is back the same upload is whole', async () => {
    await server.close();
    server = await startTestServer(fleet.engine, { patience: 700 });
    await server.ask('PUT', '/v1/batches/b', { body: { scenarios: [EXAMPLE_SCENARIO] } });
    const runs = ['a', 'b', 'c'].map((id) => `${JSON.stringify({ ...EXAMPLE_RUN, id })}\n`);
    const headers = {
      authorization: `Bearer ${server.tokens.submit}`,
      'content-type': 'application/x-ndjson',
    };
    const path = '/v1/batches/b/runs';
    const sending = ask({ host: '127.0.0.1', port: portOf(server), method: 'POST', path, headers });
    const answered = once(sending, 'response');
    await new Promise((resolve) => sending.write(runs[0], resolve));
    // Redis has answered all that the upload asks of it before its body is read.
    for (let n = 0; n < 10; n++) await server.ask('GET', '/readyz', { token: null });
    await redis.kill();
    const asked = performance.now();
    sending.end(`${runs[1]}${runs[2]}`);
    const [response] = await answered;
    expect(performance.now() - asked).toBeLessThan(10_000);
    response.resume();
    expect(response.statusCode).toBe(503);
    expect(response.headers['retry-after']).toBeDefined();
    await redis.restart();
    const again = () => server.ask('POST', path, { body: runs.join(''), headers });
    await expect.poll(async () => (await again()).status, { timeout: 15_000 }).toBe(202);
    expect(await (await server.ask('GET', '/v1/batches/b')).json()).toMatchObject({ total: 3, sealed: true });
  });
});

describe('an upload that takes long to be accepted', () => {
  it('keeps its connection, though nothing moves on it', async () => {
    await server.close();
    const real = batchesOf(fleet.engine);
    const slow = {
      open: real.open.bind(real),
      opened: real.opened.bind(real),
      seal: real.seal.bind(real),
      async submit(...given: Parameters<BatchIntake['submit']>) {
        await delay(900);
        return real.submit(...given);
      },
    } as unknown as BatchIntake;
    server = await startTestServer(fleet.engine, { batches: slow });
    server.app.server.timeout = 300;
    await server.ask('PUT', '/v1/batches/long', { body: { scenarios: [EXAMPLE_SCENARIO] } });
    const headers = { 'content-type': 'application/x-ndjson' };
    const body = JSON.stringify(EXAMPLE_RUN);
    expect((await server.ask('POST', '/v1/batches/long/runs', { body, headers })).status).toBe(202);
  });
});

describe('a server that is told to end', () => {
  const listen: Listen = { host: '127.0.0.1', port: 0 };

  it('answers what is in hand, takes nothing new, and leaves the roster', async () => {
    const { role, url } = await startServer(fleet.engine, listen);
    const roles = async () => (await fleet.engine.store.roster.alive(0)).map((each) => each.role);
    expect(await roles()).toContain('server');
    const { port } = new URL(url);
    const slow = ask({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/v1/evaluations',
      headers: { authorization: `Bearer ${server.tokens.submit}`, 'content-type': 'application/json' },
    });
    const answered = once(slow, 'response');
    const text = JSON.stringify(evaluation);
    await new Promise((resolve) => slow.write(text.slice(0, 50), resolve));
    await afterThose(url);
    const ended = role.stop();
    await expect.poll(() => isOpen(Number(port)), { timeout: 5000 }).toBe(false);
    slow.end(text.slice(50));
    const [response] = await answered;
    response.resume();
    expect(response.statusCode).toBe(202);
    expect(response.headers.connection).toBe('close');
    await ended;
    expect(await roles()).not.toContain('server');
  });

  it('cuts off what does not end within the drain time', async () => {
    const config = { ...fleet.engine.config, http: { ...fleet.engine.config.http, drain: 200 } };
    const { role, url } = await startServer({ ...fleet.engine, config }, listen);
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    socket.write(
      `POST /v1/evaluations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.tokens.submit}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    await afterThose(url);
    await role.stop();
    await closed;
  });

  it('cannot listen where another does, and says what to do', async () => {
    const { role, url } = await startServer(fleet.engine, listen);
    const taken = { host: '127.0.0.1', port: Number(new URL(url).port) };
    await expect(startServer(fleet.engine, taken)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('--listen'),
    });
    await role.stop();
    const again = await startServer(fleet.engine, { host: '127.0.0.1', port: await freePort() });
    await again.role.stop();
  });
});

/** Whether something listens. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Answers once the server has taken the connections that were made before. */
async function afterThose(url: string): Promise<void> {
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
}
