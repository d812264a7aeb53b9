import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EXAMPLE_SCENARIO } from '../../src/http/operations/examples.js';
import { configWith, openTestFleet, outboxOf, type TestFleet } from '../support/fleet.js';
import { startTestServer, type TestServer } from '../support/http.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const run = promisify(execFile);

let redis: TestRedis;
let fleet: TestFleet;
let server: TestServer;
let spool: string;

beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis?.stop());

beforeEach(async () => {
  spool = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
  fleet = await openTestFleet(redis.url, configWith());
  server = await startTestServer(fleet.engine, { spoolFolder: spool });
});

afterEach(async () => {
  await server.close();
  await fleet.close();
  await rm(spool, { recursive: true, force: true });
});

const line = (id: string, command = 'systemctl restart nginx') =>
  `${JSON.stringify({ id, job: { resolution_status: 'success' }, tasks: [{ commands: [command] }] })}\n`;

async function openBatch(id: string): Promise<void> {
  const answer = await server.ask('PUT', `/v1/batches/${id}`, { body: { scenarios: [EXAMPLE_SCENARIO] } });
  expect(answer.status).toBe(201);
}

interface Uploaded {
  status: number;
  body: {
    batch: { total: number; sealed: boolean };
    accepted: number;
    repeated: number;
    code: string;
    detail: string;
    problems: { line?: number; path: string; message: string }[];
  };
}

/** Uploads what is given, as it comes. */
async function upload(
  batch: string,
  lines: string | Buffer | Iterable<string>,
  headers: Record<string, string> = {},
  query = '',
): Promise<Uploaded> {
  const isWhole = typeof lines === 'string' || Buffer.isBuffer(lines);
  const response = await fetch(`${server.url}/v1/batches/${batch}/runs${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.tokens.submit}`,
      'content-type': 'application/x-ndjson',
      ...headers,
    },
    body: isWhole ? lines : (Readable.toWeb(Readable.from(lines, { objectMode: false })) as ReadableStream),
    duplex: 'half',
  } as RequestInit);
  return { status: response.status, body: (await response.json()) as Uploaded['body'] };
}

async function status(batch: string) {
  return (await (await server.ask('GET', `/v1/batches/${batch}`)).json()) as Record<string, unknown>;
}

const completed = (batch: string) =>
  expect.poll(() => status(batch), { timeout: 20_000 }).toMatchObject({ state: 'completed' });

function* manyLines(count: number, from = 0): Generator<string> {
  for (let n = from; n < from + count; n += 1) yield line(`run-${n}`, n % 4 === 0 ? 'reboot' : undefined);
}

describe('an upload', () => {
  it('is judged, and read in input order page by page, with its actor in the events', async () => {
    await openBatch('b1');
    const { status: code, body } = await upload('b1', manyLines(450));
    expect(code).toBe(202);
    expect(body).toMatchObject({ accepted: 450, repeated: 0 });
    expect(body.batch).toMatchObject({ id: 'b1', total: 450, sealed: true });
    await completed('b1');
    expect(await status('b1')).toMatchObject({ passed: 337, failed: 113, errored: 0, pending: 0 });
    const runs: string[] = [];
    let cursor = '';
    let pages = 0;
    do {
      const page = (await (
        await server.ask('GET', `/v1/batches/b1/evaluations?limit=100${cursor}`)
      ).json()) as { evaluations: { run: string; index: number; passed: boolean }[]; cursor: string | null };
      for (const { run: id, index, passed } of page.evaluations) {
        expect([id, passed]).toEqual([`run-${index}`, index % 4 !== 0]);
        runs.push(id);
      }
      pages += 1;
      cursor = page.cursor === null ? '' : `&cursor=${page.cursor}`;
    } while (cursor !== '');
    expect(pages).toBe(5);
    expect(runs).toEqual(Array.from({ length: 450 }, (_, n) => `run-${n}`));
    const [accepted] = (await outboxOf(fleet.engine.store)).filter(({ type }) => type.includes('accepted'));
    expect(accepted?.data.actor).toBe('submitter');
  });

  it('sent again is the same evaluations, also after the batch is over', async () => {
    await openBatch('b2');
    await upload('b2', manyLines(120));
    expect((await upload('b2', manyLines(120))).body).toMatchObject({ accepted: 0, repeated: 120 });
    await completed('b2');
    expect((await upload('b2', manyLines(120))).body).toMatchObject({ accepted: 0, repeated: 120 });
    expect(await status('b2')).toMatchObject({ total: 120, passed: 90 });
    const other = await upload('b2', line('run-1', 'rm -rf /'));
    expect(other).toMatchObject({ status: 409, body: { code: 'BATCH_CONFLICT' } });
    expect(other.body.detail).not.toContain('--batch');
    expect(await upload('b2', line('another'))).toMatchObject({ status: 409 });
  });

  it('comes in parts, and is complete once it is sealed', async () => {
    await openBatch('b3');
    await upload('b3', manyLines(30), {}, '?seal=false');
    const second = await upload('b3', manyLines(30, 30), {}, '?seal=false&offset=30');
    expect(second.body).toMatchObject({ accepted: 30, batch: { total: 60, sealed: false } });
    const sealed = await server.ask('POST', '/v1/batches/b3/seal');
    expect(await sealed.json()).toMatchObject({ total: 60, sealed: true });
    await completed('b3');
    const page = await (await server.ask('GET', '/v1/batches/b3/evaluations?limit=500')).json();
    expect((page as { evaluations: { run: string }[] }).evaluations.map(({ run: id }) => id)).toEqual(
      Array.from({ length: 60 }, (_, n) => `run-${n}`),
    );
  });

  it('with broken lines is refused with the line of each, and nothing of it is stored', async () => {
    await openBatch('b4');
    const lines = [
      line('a'),
      '{"id": 7}\n',
      '\n',
      'no json\n',
      line('b'),
      line('a'),
      '{"id":"c","scenario":"restart-ngin"}\n',
      '{"id":"d","tasks":{}}',
    ];
    const { status: code, body } = await upload('b4', lines);
    expect(code).toBe(422);
    expect(body).toMatchObject({ code: 'INVALID_RUNS' });
    expect(body.problems.map(({ line: at, path }) => [at, path])).toEqual([
      [2, 'id'],
      [4, ''],
      [6, 'id'],
      [7, 'scenario'],
      [8, 'tasks'],
    ]);
    expect(body.problems[2]?.message).toBe('is taken by the run in line 1');
    expect(body.problems[3]).toMatchObject({ nearest: 'restart-nginx' });
    expect(await status('b4')).toMatchObject({ total: 0, sealed: false });
    const accepted = (await outboxOf(fleet.engine.store)).filter(({ type }) => type.includes('accepted'));
    expect(accepted).toEqual([]);
  });

  it('tells a thousand problems at most, and how many there are', async () => {
    await openBatch('b5');
    const { body } = await upload('b5', '{"id":1}\n'.repeat(2500));
    expect(body.problems.length).toBe(1000);
    expect(body.detail).toContain('2500 problems');
  });

  it('without a run is refused', async () => {
    await openBatch('b6');
    for (const nothing of ['', '\n\n'])
      expect(await upload('b6', nothing)).toMatchObject({ status: 422, body: { code: 'INVALID_RUNS' } });
  });

  it('of a batch that there is not is refused before it is read', async () => {
    expect(await upload('nobody', line('a'))).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  });

  it('of another type is refused with the types that are taken', async () => {
    await openBatch('b7');
    const answer = await upload('b7', line('a'), { 'content-type': 'application/json' });
    expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    expect(answer.body.problems[0]).toMatchObject({ path: 'Content-Type', found: 'application/json' });
  });
});

describe('a packed upload', () => {
  it('is unpacked', async () => {
    await openBatch('g1');
    const packed = gzipSync([...manyLines(200)].join(''));
    const answer = await upload('g1', packed, { 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({ status: 202, body: { accepted: 200 } });
  });

  it('that is none, is cut off, or is packed otherwise is refused', async () => {
    await openBatch('g2');
    const packed = gzipSync([...manyLines(200)].join(''));
    const cases = [
      [Buffer.from(line('a')), 'gzip', 400],
      [packed.subarray(0, packed.length - 20), 'gzip', 400],
      [packed, 'br', 415],
    ] as const;
    for (const [bytes, encoding, code] of cases) {
      const answer = await upload('g2', bytes, { 'content-encoding': encoding });
      expect(answer.status, JSON.stringify(answer.body)).toBe(code);
    }
    expect(await status('g2')).toMatchObject({ total: 0 });
  });

  it('that is made to fill the disk is refused', async () => {
    await openBatch('g3');
    const large = `${JSON.stringify({ id: 'a', job: { plan: 'x'.repeat(2 ** 20) } })}\n`;
    const bomb = gzipSync(large.repeat(40));
    const answer = await upload('g3', bomb, { 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
  });
});

describe('uploads at once', () => {
  it('of ten clients each get theirs', async () => {
    const ids = Array.from({ length: 10 }, (_, n) => `c${n}`);
    await Promise.all(ids.map(openBatch));
    const answers = await Promise.all(ids.map((id, n) => upload(id, manyLines(100 + n))));
    expect(answers.map(({ body }) => body.accepted)).toEqual(ids.map((_, n) => 100 + n));
    await Promise.all(ids.map(completed));
    const totals = await Promise.all(ids.map(async (id) => (await status(id)).total));
    expect(totals).toEqual(ids.map((_, n) => 100 + n));
    expect(await readdir(spool)).toEqual([]);
  });

  it('beyond the limit of the server are asked to come again', async () => {
    await server.close();
    server = await startTestServer(fleet.engine, { spoolFolder: spool }, { uploads: 1 });
    await openBatch('l1');
    const first = begin('l1');
    first.write(line('a'));
    await expect.poll(async () => (await upload('l1', line('b'))).status, { timeout: 5000 }).toBe(503);
    const answered = once(first, 'response');
    first.end();
    const [response] = await answered;
    expect(response.statusCode).toBe(202);
    response.resume();
  });
});

/** An upload that the test goes on with by hand. */
function begin(batch: string) {
  const sending = request(`${server.url}/v1/batches/${batch}/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.tokens.submit}`, 'content-type': 'application/x-ndjson' },
  });
  sending.on('error', () => {});
  sending.flushHeaders();
  return sending;
}

describe('a client that hangs up in mid-upload', () => {
  it('leaves nothing behind: no run, no file, and the place is free for the next', async () => {
    await server.close();
    server = await startTestServer(fleet.engine, { spoolFolder: spool }, { uploads: 1 });
    await openBatch('h1');
    for (const text of [line('a'), line('a').slice(0, 20), [...manyLines(3000)].join('')]) {
      const sending = begin('h1');
      await new Promise((resolve) => sending.write(text, resolve));
      sending.destroy();
    }
    await expect
      .poll(async () => (await upload('h1', line('z'), {}, '?seal=false')).status, { timeout: 10_000 })
      .toBe(202);
    expect(await status('h1')).toMatchObject({ total: 1, sealed: false });
    expect(await readdir(spool)).toEqual([]);
  });
});

const canMount = process.getuid?.() === 0;

describe('a full disk', () => {
  it.runIf(canMount)('is told as such; nothing of the upload is stored', async () => {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'none', spool]);
    try {
      await openBatch('f1');
      const answer = await upload('f1', manyLines(20_000));
      expect(answer).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
      expect(answer.body.detail).toContain('no room');
      expect(await status('f1')).toMatchObject({ total: 0 });
      expect((await upload('f1', manyLines(50))).status).toBe(202);
    } finally {
      await run('umount', [spool]);
    }
  });
});
