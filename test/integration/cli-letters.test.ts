import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedriver } from '../../queues/redrive.js';
import { makeEvent } from '../../src/core/events.js';
import type { DeadLetter } from '../../src/ports/dead-letters.js';
import type { Store } from '../../src/ports/store.js';
import { openRedisStore } from '../../src/store/redis/index.js';
import { runSluice, spawnSluice } from '../support/cli.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const FLEET = 'letters';
const NAME = 'hook';

let redis: TestRedis;
let dir: string;
let store: Store;
let receiver: Server;
/** Ids that arrived, and those that are answered with 422. */
const arrived: string[] = [];
const refused = new Set<string>();

const event = (n: number) =>
  makeEvent({
    fleet: FLEET,
    name: n % 2 === 0 ? 'evaluation.failed' : 'plan.failed',
    subject: `s${n}`,
    revision: '1',
    sequence: 1,
    time: 0,
    data: {},
  });

function letter(n: number, some: Partial<DeadLetter> = {}): DeadLetter {
  const { id, type, json } = event(n);
  return {
    direction: 'out',
    endpoint: NAME,
    id,
    type,
    subject: `s${n}`,
    reason: 'it answered 500',
    code: 'refused',
    response: null,
    at: Date.now() - 3_600_000 + n,
    tries: 20,
    redriven: 0,
    content: json,
    ...some,
  };
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-letters-'));
  redis = await startTestRedis();
  store = await openRedisStore({ url: redis.url, fleet: FLEET, outboxCap: 1000 });
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { id } = JSON.parse(body) as { id: string };
      const isRefused = refused.has(id);
      if (!isRefused) arrived.push(id);
      response.writeHead(isRefused ? 422 : 204).end(isRefused ? 'not this one' : undefined);
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const sink = {
    name: NAME,
    kind: 'webhook',
    target: `http://127.0.0.1:${port}/hook`,
    options: { unsigned: true, allow_http: true, allow_private: true },
  };
  await writeFile(join(dir, 'sluice.json'), JSON.stringify({ fleet: FLEET, sinks: [sink] }));
  await runSluice(['--version']);
}, 180_000);

afterAll(async () => {
  await store?.close();
  await redis?.stop();
  receiver?.closeAllConnections();
  receiver?.close();
  await rm(dir, { recursive: true, force: true });
});

const sluice = (...args: string[]) =>
  runSluice([...args, '--redis', redis.url, '--config', 'sluice.json'], { cwd: dir });

async function json(...args: string[]) {
  const { exitCode, stdout, stderr } = await sluice(...args, '--json');
  return { exitCode, document: JSON.parse(stdout), stderr };
}

/** Runs while a dispatcher with the settings' sink is alive. */
async function withDispatcher<T>(work: () => Promise<T>): Promise<T> {
  const args = ['dispatcher', '--redis', redis.url, '--config', 'sluice.json', '--json'];
  const child = await spawnSluice(args, { cwd: dir });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  try {
    const started = await Promise.race([
      once(child.stdout, 'data').then(([line]) => String(line).includes('"role"')),
      once(child, 'exit').then(() => false),
    ]);
    if (!started) throw new Error(`the dispatcher ended: ${said}`);
    return await work();
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
}

async function leave(...letters: DeadLetter[]): Promise<void> {
  for (const direction of ['out', 'in'] as const) {
    for (const { endpoint } of (await store.letters.counts()).filter((one) => one.direction === direction)) {
      const { letters: old } = await store.letters.list({ direction, endpoint }, '', 1000);
      await store.letters.remove(
        direction,
        endpoint,
        old.map(({ id }) => id),
      );
    }
  }
  for (const one of letters) await store.letters.put(one);
}

describe('sluice dead-letters', () => {
  it('lists letters by filter, page by page', async () => {
    await leave(
      ...Array.from({ length: 6 }, (_, n) => letter(n)),
      letter(9, { endpoint: 'other', code: 'gone' }),
    );
    const first = await json('dead-letters', 'list', '--sink', NAME, '--limit', '4');
    expect(first.exitCode).toBe(0);
    expect(first.document.letters.map(({ subject }: DeadLetter) => subject)).toEqual([
      's0',
      's1',
      's2',
      's3',
    ]);
    expect(first.document.letters[0]).toMatchObject({
      direction: 'out',
      endpoint: NAME,
      id: event(0).id,
      code: 'refused',
      content: event(0).json,
      set_aside_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const next = await json('dead-letters', 'list', '--sink', NAME, '--cursor', first.document.cursor);
    expect(next.document).toMatchObject({ letters: [{ subject: 's4' }, { subject: 's5' }], cursor: null });
    const plans = await json('dead-letters', 'list', '--type', 'plan.*', '--before', '30m');
    expect(plans.document.letters.map(({ subject }: DeadLetter) => subject)).toEqual([
      's1',
      's3',
      's5',
      's9',
    ]);
    const table = await sluice('dead-letters', 'list', '--code', 'gone');
    expect(table.stdout).toMatch(/sink other +plan\.failed/);
    expect((await json('dead-letters', 'list', '--since', '10m')).document.letters).toEqual([]);
  });

  it('drops what is named, and nothing when nothing is', async () => {
    await leave(letter(0), letter(1), letter(2, { endpoint: 'other' }));
    expect(await json('dead-letters', 'drop', '--sink', NAME, '--type', 'plan.*')).toMatchObject({
      exitCode: 0,
      document: { dropped: 1 },
    });
    const nothing = await json('dead-letters', 'drop');
    expect(nothing).toMatchObject({ exitCode: 2, document: { error: { problems: [{ path: '--all' }] } } });
    expect((await json('dead-letters', 'list')).document.letters).toHaveLength(2);
    expect(await json('dead-letters', 'drop', '--all')).toMatchObject({ document: { dropped: 2 } });
  });

  it('tells every problem of its options at once', async () => {
    const options = ['--sink', 'a', '--source', 'b', '--type', 'plan.faild', '--since', 'x', '--rate', '-1'];
    const { exitCode, document } = await json('dead-letters', 'redrive', ...options, '--wait', 'y');
    expect(exitCode).toBe(2);
    expect(document.error.problems.map(({ path }: { path: string }) => path)).toEqual([
      '--source',
      '--type',
      '--since',
      '--rate',
      '--wait',
    ]);
  });

  it('says at once that no dispatcher is alive', async () => {
    await leave(letter(0), letter(1));
    const { exitCode, document } = await json('dead-letters', 'redrive', '--sink', NAME);
    expect(exitCode).toBe(1);
    expect(document).toMatchObject({ matched: 2, delivered: 0, failed: 2, waiting: 0 });
    expect(document.failures[0].reason).toContain('no dispatcher is alive');
    expect((await store.letters.counts())[0]).toMatchObject({ count: 2 });
  });

  it('redrives through a dispatcher, and tells what arrived and what did not', async () => {
    await leave(...Array.from({ length: 8 }, (_, n) => letter(n)));
    refused.add(event(3).id);
    arrived.length = 0;
    await withDispatcher(async () => {
      const { exitCode, document } = await json('dead-letters', 'redrive', '--sink', NAME, '--rate', '100');
      expect(document.failures.map(({ reason }: DeadLetter) => reason)).toHaveLength(1);
      expect(document).toMatchObject({ matched: 8, delivered: 7, failed: 1, waiting: 0 });
      expect(document.failures).toMatchObject([{ id: event(3).id, reason: expect.stringContaining('422') }]);
      expect(exitCode).toBe(1);
      const expected = [0, 1, 2, 4, 5, 6, 7].map((n) => event(n).id);
      expect([...arrived].sort()).toEqual([...expected].sort());
      const left = (await json('dead-letters', 'list')).document.letters;
      expect(left).toMatchObject([{ id: event(3).id, redriven: 1 }]);
      refused.clear();
      const again = await sluice('dead-letters', 'redrive', '--id', event(3).id);
      expect(again).toMatchObject({ exitCode: 0, stdout: '1 of 1 delivered\n' });
      const sinks = await json('sinks', 'list');
      expect(sinks.document.sinks).toMatchObject([
        { name: NAME, kind: 'webhook', state: 'delivering', dead_letters: 0 },
      ]);
    });
  });
});

describe('sluice sinks', () => {
  it('enables a sink that is disabled', async () => {
    const state = { name: 'old', kind: 'webhook', target: 'http://h', since: 1, nextTry: null };
    await store.sinks.note({ ...state, state: 'disabled', reason: 'it answered 410' });
    expect((await sluice('sinks', 'list')).stdout).toMatch(/old +webhook=http:\/\/h +disabled/);
    expect(await json('sinks', 'enable', 'old')).toMatchObject({
      exitCode: 0,
      document: { state: 'delivering' },
    });
    expect(await store.sinks.get('old')).toMatchObject({ state: 'delivering', reason: null });
    expect((await sluice('sinks', 'enable', 'old')).stderr).toContain('is not disabled');
    expect(await json('sinks', 'enable', 'oldd')).toMatchObject({
      exitCode: 2,
      document: { error: { code: 'NOT_FOUND', problems: [{ nearest: 'old' }] } },
    });
  });

  it('forgets a sink that is configured no more, and not what waits for it', async () => {
    await store.sinks.note({
      name: 'left',
      kind: 'ndjson',
      target: 'f',
      since: 1,
      nextTry: null,
      state: 'delivering',
      reason: null,
    });
    await store.outbox.openReader('left', '');
    const client = new Redis(redis.url);
    const queues = () => client.keys(`${FLEET}:{0}:deliver-left*`);
    const redriver = openRedriver({ url: redis.url, fleet: FLEET }, () => {});
    await redriver.enqueue('left', ['a letter'], 1);
    await redriver.close();
    expect(await queues()).not.toEqual([]);
    await store.letters.put(letter(100, { endpoint: 'x' }), event(101));
    expect(await json('sinks', 'forget', 'left')).toMatchObject({
      exitCode: 2,
      document: { error: { code: 'IN_USE' } },
    });
    expect(await json('sinks', 'forget', 'left', '--discard')).toMatchObject({
      exitCode: 0,
      document: { forgotten: 'left', had_waiting: true },
    });
    expect([await store.sinks.get('left'), await store.outbox.outstanding('left')]).toEqual([undefined, 0]);
    expect(await queues()).toEqual([]);
    client.disconnect();
    expect(await json('sinks', 'forget', NAME)).toMatchObject({
      exitCode: 2,
      document: { error: { code: 'IN_USE' } },
    });
  });
});
