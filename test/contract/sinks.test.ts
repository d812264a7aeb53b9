import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ndjson } from '../../queues/sinks/ndjson.js';
import { redisStream } from '../../queues/sinks/redis-stream.js';
import { testEvents } from '../support/bus-events.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { attempt, openSink, type SinkServer, sinkSuite } from '../support/sink-suite.js';

const USER = 'fleet-user';
const PASSWORD = 'pass-word-9f8e7d';
const VARIABLE = 'SLUICE_TEST_SINK_PASSWORD';

async function entriesOf(url: string, key: string) {
  const client = new Redis(url);
  try {
    const entries = await client.xrange(key, '-', '+');
    return entries.map(([, [, id = '', , type = '', , body = '']]) => ({ id, type, body }));
  } finally {
    client.disconnect();
  }
}

/** A Redis that keeps what it has acknowledged, with a user that a sink must be. */
async function redisServer(): Promise<SinkServer> {
  const redis = await startTestRedis({ appendonly: true, appendfsync: 'always' });
  const setUser = async () => {
    const client = new Redis(redis.url);
    await client.call('ACL', 'SETUSER', USER, 'on', `>${PASSWORD}`, '+@all', '~*', '&*');
    client.disconnect();
  };
  await setUser();
  return {
    target: `${redis.url}#events`,
    options: { user: USER, password: { env: VARIABLE } },
    received: () => entriesOf(redis.url, 'events'),
    kill: () => redis.kill(),
    async restart() {
      await redis.restart();
      await setUser();
    },
    stop: () => redis.stop(),
  };
}

beforeAll(() => {
  process.env[VARIABLE] = PASSWORD;
});
afterAll(() => {
  delete process.env[VARIABLE];
});

sinkSuite('redis-stream', { kind: redisStream, start: redisServer, secrets: [PASSWORD] });

sinkSuite('ndjson', {
  kind: ndjson,
  cannotDie: true,
  async start() {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-ndjson-'));
    const target = join(folder, 'events.ndjson');
    return {
      target,
      async received() {
        const lines = (await readFile(target, 'utf8')).split('\n').filter((line) => line !== '');
        return lines.map((body) => {
          // A projected line has no id: the case sends one alone.
          const { id = 'event-000100', type = 'dev.sluice.evaluation.passed.v1' } = JSON.parse(body);
          return { id, type, body };
        });
      },
      kill: async () => {},
      restart: async () => {},
      stop: () => rm(folder, { recursive: true, force: true }),
    };
  },
});

describe('the sink redis-stream', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis?.stop());

  it('is away with the answer of Redis where the key is something else, and goes on when it is not', async () => {
    const client = new Redis(redis.url);
    await client.set('taken', 'x');
    const sink = await openSink(redisStream, { target: `${redis.url}#taken` });
    const [event] = testEvents(1);
    expect(await sink.deliver([event as never])).toEqual([
      { id: event?.id, kind: 'away', reason: expect.stringContaining('WRONGTYPE') },
    ]);
    await client.del('taken');
    expect(await sink.deliver([event as never])).toEqual([]);
    await sink.close();
    client.disconnect();
  });

  it('is away while its password is wrong, and does not say which it was', async () => {
    process.env.SLUICE_TEST_WRONG = 'not-the-password';
    const options = { user: 'nobody', password: { env: 'SLUICE_TEST_WRONG' } };
    const errors: Error[] = [];
    const sink = await openSink(redisStream, { target: `${redis.url}#k`, options }, errors);
    const failures = await attempt(sink, testEvents(2));
    await sink.close();
    expect(failures.map(({ kind }) => kind)).toEqual(['away', 'away']);
    expect(failures[0]?.reason).toContain('WRONGPASS');
    expect(JSON.stringify(failures) + errors.map(String)).not.toContain('not-the-password');
  });

  it('keeps about as many entries as it may', async () => {
    const sink = await openSink(redisStream, { target: `${redis.url}#short`, options: { max_length: 100 } });
    for (let n = 0; n < 10; n++) await sink.deliver(testEvents(100, n * 100));
    await sink.close();
    expect((await entriesOf(redis.url, 'short')).length).toBeLessThan(400);
  });

  it('gives up on a server that takes connections and never answers', async () => {
    const sockets: Socket[] = [];
    const mute: Server = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as { port: number };
    const sink = await openSink(redisStream, { target: `redis://127.0.0.1:${port}#k` });
    const begun = Date.now();
    const failures = await attempt(sink, testEvents(2));
    expect(Date.now() - begun).toBeLessThan(15_000);
    expect(failures).toEqual(testEvents(2).map(({ id }) => expect.objectContaining({ id, kind: 'away' })));
    await sink.close();
    for (const socket of sockets) socket.destroy();
    mute.close();
  });

  it('is ended by its signal', async () => {
    const mute = createServer(() => {});
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as { port: number };
    const sink = await openSink(redisStream, { target: `redis://127.0.0.1:${port}#k` });
    await expect(sink.deliver(testEvents(1), AbortSignal.timeout(50))).rejects.toThrow('told to stop');
    await sink.close();
    mute.close();
  });

  it('cannot be opened on no Redis', async () => {
    await expect(openSink(redisStream, { target: 'key' })).rejects.toThrow(/redis:\/\/HOST:PORT#KEY/);
  });
});

describe('the sink ndjson', () => {
  it('keeps deliveries in one piece that are made at the same time', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-ndjson-'));
    try {
      const sink = await openSink(ndjson, { target: join(folder, 'events') });
      await Promise.all(Array.from({ length: 20 }, (_, n) => sink.deliver(testEvents(50, n * 50))));
      await sink.close();
      const lines = (await readFile(join(folder, 'events'), 'utf8')).split('\n');
      expect(lines.pop()).toBe('');
      expect(lines).toEqual(testEvents(1000).map(({ json }) => json));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('cannot be opened on a folder', async () => {
    await expect(openSink(ndjson, { target: tmpdir() })).rejects.toThrow('cannot be opened');
  });
});
