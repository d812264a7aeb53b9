import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type JetStreamManager, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection, nkeys } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readSecret } from '../../queues/secrets.js';
import { nats as sinkKind } from '../../queues/sinks/nats.js';
import { nats as sourceKind } from '../../queues/sources/nats.js';
import type { Sink } from '../../src/ports/sink.js';
import type { Source, Take } from '../../src/ports/source.js';
import { startNats, type TestNats } from '../support/brokers/nats.js';
import { testEvent, testEvents, untilSo } from '../support/bus-events.js';
import { attempt, deliverAtLast, openSink } from '../support/sink-suite.js';

const run = promisify(execFile);
const closing: (() => Promise<unknown>)[] = [];
const errors: Error[] = [];
let folder: string;
let server: TestNats;
let client: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-nats-cases-'));
  server = await startNats();
  client = await connect({ servers: server.place });
  manager = await jetstreamManager(client);
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(async () => {
  errors.length = 0;
  for (const close of closing.splice(0).reverse()) await close();
});

async function sinkOn(
  subject: string,
  options: Record<string, unknown> = {},
  place = server.place,
): Promise<Sink> {
  const sink = await openSink(sinkKind, { target: `nats://${place}#${subject}`, options }, errors);
  closing.push(() => sink.close());
  return sink;
}

async function sourceOn(
  subject: string,
  take: Take,
  given: Record<string, unknown> = {},
  concurrency = 4,
): Promise<Source> {
  const options = sourceKind.options.parse(given);
  const context = {
    name: subject.replace(/\W/g, '-'),
    fleet: 'test',
    redisUrl: '',
    concurrency,
    secret: readSecret,
    onError: (error: Error) => errors.push(error),
  };
  const source = await sourceKind.open(`nats://${server.place}#${subject}`, options, context, take);
  closing.push(() => source.close(0));
  return source;
}

async function messages(stream: string): Promise<JsMsg[]> {
  const { state } = await manager.streams.info(stream);
  const consumer = await jetstream(client).consumers.get(stream);
  const found: JsMsg[] = [];
  for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 5_000 })) {
    found.push(message);
    if (found.length === state.messages) break;
  }
  return found;
}

const publish = (subject: string, bodies: readonly string[]) =>
  Promise.all(bodies.map((body) => jetstream(client).publish(subject, body)));
const textOf = ({ body }: { body: Uint8Array }) => Buffer.from(body).toString();
const told = () => errors.map(({ message }) => message).join('\n');

describe('the sink nats', () => {
  it('sends attributes as headers in binary mode', async () => {
    const sink = await sinkOn('binary.{subject}', { stream: 'BINARY', mode: 'binary' });
    const event = testEvent(1);
    expect(await sink.deliver([event])).toEqual([]);
    const [message] = await messages('BINARY');
    const { data, ...attributes } = JSON.parse(event.json);
    for (const [name, value] of Object.entries(attributes))
      expect(message?.headers?.get(`ce-${name}`)).toBe(value);
    expect(message?.json()).toEqual(data);
    expect(message?.subject).toBe('binary.evaluation-1');
  });

  it('makes its stream once more when it was removed', async () => {
    const sink = await sinkOn('again.{type}', { stream: 'AGAIN' });
    expect(await sink.deliver([testEvent(1)])).toEqual([]);
    expect((await manager.streams.info('AGAIN')).config.subjects).toEqual(['again.>']);
    await manager.streams.delete('AGAIN');
    await deliverAtLast(sink, [testEvent(2)]);
    expect(await messages('AGAIN')).toHaveLength(1);
  });

  it('is away while no stream takes its subject', async () => {
    const sink = await sinkOn('nowhere.x');
    const [failure] = await sink.deliver([testEvent(1)]);
    expect(failure).toMatchObject({ kind: 'away', reason: expect.stringContaining('nowhere.x') });
    await manager.streams.add({ name: 'NOWHERE', subjects: ['nowhere.x'] });
    expect(await sink.deliver([testEvent(1)])).toEqual([]);
  });

  it('says which stream would have taken its event', async () => {
    await manager.streams.add({ name: 'OTHER', subjects: ['other.x'] });
    await manager.streams.add({ name: 'NAMED', subjects: ['named.x'] });
    const sink = await sinkOn('other.x', { stream: 'NAMED' });
    const [failure] = await sink.deliver([testEvent(1)]);
    expect(failure).toMatchObject({ kind: 'refused', response: expect.stringContaining('10060') });
  });

  it('gives up soon on a server that says nothing, and when it is told to', async () => {
    const sockets = new Set<Socket>();
    const mute = createServer((socket) => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
    await new Promise((resolve) => mute.once('listening', resolve));
    closing.push(async () => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    const { port } = mute.address() as { port: number };
    const sink = await sinkOn('x', { timeout: '5s' }, `127.0.0.1:${port}`);
    const begun = Date.now();
    const failures = await sink.deliver([testEvent(1)], AbortSignal.timeout(200));
    expect(failures).toMatchObject([{ kind: 'away' }]);
    expect(Date.now() - begun).toBeLessThan(2_000);
    const quick = await sinkOn('x', { timeout: '200ms' }, `127.0.0.1:${port}`);
    expect(await quick.deliver([testEvent(1)])).toMatchObject([
      { kind: 'away', reason: expect.stringContaining('does not answer') },
    ]);
  });

  it.each([
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n', /does not speak NATS/],
    ['rubbish after the greeting', 'INFO {"max_payload":1}\r\n\u0000\u0001rubbish\r\n', /\S/],
    ['a greeting that is no JSON', 'INFO {{{{\r\n', /\S/],
  ])('is away from a server that speaks %s', async (_, words, reason) => {
    const strange = createServer((socket) => socket.on('error', () => {}).write(words)).listen(
      0,
      '127.0.0.1',
    );
    await new Promise((resolve) => strange.once('listening', resolve));
    closing.push(async () => strange.close());
    const { port } = strange.address() as { port: number };
    const sink = await sinkOn('x', { timeout: '500ms' }, `127.0.0.1:${port}`);
    expect(await attempt(sink, [testEvent(1)])).toMatchObject([
      { kind: 'away', reason: expect.stringMatching(reason) },
    ]);
  });
});

describe('the sink nats on a server with users', () => {
  const RIGHT = 'right-password-31';
  const WRONG = 'wrong-password-32';
  let guarded: TestNats;

  beforeAll(async () => {
    const permissions = '{ publish: { deny: "users.plan.>" } }';
    guarded = await startNats({
      config: `authorization { users: [ { user: u, password: "${RIGHT}", permissions: ${permissions} } ] }`,
    });
  });
  afterAll(() => guarded?.stop());

  it('reads its password anew at each try, and does not show it', async () => {
    const file = join(folder, 'password');
    await writeFile(file, `${WRONG}\n`);
    const sink = await sinkOn(
      'users.{type}',
      { stream: 'USERS', user: 'u', password: { file } },
      guarded.place,
    );
    const [failure] = await sink.deliver([testEvent(1)]);
    expect(failure).toMatchObject({ kind: 'away', reason: expect.stringMatching(/authorization/i) });
    await writeFile(file, `${RIGHT}\n`);
    await deliverAtLast(sink, [testEvent(1)]);
    expect(JSON.stringify([failure, told()])).not.toMatch(/right-password|wrong-password/);
  });

  it('says what is not allowed, and delivers the rest', async () => {
    process.env.TEST_NATS_RIGHT = RIGHT;
    const login = { user: 'u', password: { env: 'TEST_NATS_RIGHT' } };
    const sink = await sinkOn('users.{type}', { stream: 'USERS', ...login }, guarded.place);
    const denied = { ...testEvent(2), type: 'dev.sluice.plan.failed.v1' };
    const failures = await sink.deliver([testEvent(1), denied, testEvent(3)]);
    expect(failures).toEqual([
      { id: denied.id, kind: 'refused', reason: 'publishing to users.plan.failed is not allowed' },
    ]);
  });
});

describe('the sink nats on a server with nkeys', () => {
  it('logs in by a seed, and does not show one that is none', async () => {
    const pair = nkeys.createUser();
    const seed = Buffer.from(pair.getSeed()).toString();
    const keyed = await startNats({
      config: `authorization { users: [ { nkey: ${pair.getPublicKey()} } ] }`,
    });
    closing.push(() => keyed.stop());
    const file = join(folder, 'seed');
    const broken = `${seed.slice(0, -4)}AAAA`;
    await writeFile(file, broken);
    const sink = await sinkOn('keys.x', { stream: 'KEYS', nkey: { file } }, keyed.place);
    const [failure] = await sink.deliver([testEvent(1)]);
    expect(failure?.kind).toBe('away');
    await writeFile(file, seed);
    await deliverAtLast(sink, [testEvent(1)]);
    expect(JSON.stringify([failure, told()])).not.toContain(seed.slice(0, 20));
  });

  it('says that a file of credentials holds none', async () => {
    const file = join(folder, 'creds');
    await writeFile(file, 'secret-rubbish');
    const sink = await sinkOn('keys.x', { creds: { file } });
    const [failure] = await sink.deliver([testEvent(1)]);
    expect(failure).toMatchObject({ kind: 'away', reason: expect.stringMatching(/credentials/) });
    expect(failure?.reason).not.toContain('secret-rubbish');
  });
});

describe('the sink nats over TLS', () => {
  let secured: TestNats;
  let ca: string;

  beforeAll(async () => {
    ca = join(folder, 'cert.pem');
    const key = join(folder, 'key.pem');
    const names = 'subjectAltName=IP:127.0.0.1';
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test'];
    await run('openssl', [...made, '-addext', names, '-keyout', key, '-out', ca]);
    secured = await startNats({ config: `tls { cert_file: "${ca}", key_file: "${key}" }` });
  });
  afterAll(() => secured?.stop());

  it('delivers to a server whose certificate it trusts, given by its address', async () => {
    const sink = await sinkOn('tls.x', { stream: 'TLS', tls: { ca } }, secured.place);
    expect(await sink.deliver(testEvents(3))).toEqual([]);
  });

  it('is away from one that it does not trust, and from one without TLS', async () => {
    const wary = await sinkOn('tls.x', { stream: 'TLS', tls: {} }, secured.place);
    expect(await wary.deliver([testEvent(1)])).toMatchObject([
      { kind: 'away', reason: expect.stringMatching(/certificate/) },
    ]);
    const plain = await sinkOn('tls.x', { stream: 'TLS', tls: { ca } });
    expect(await plain.deliver([testEvent(1)])).toMatchObject([
      { kind: 'away', reason: expect.stringMatching(/tls/) },
    ]);
  });
});

describe('the source nats', () => {
  it('waits for a stream that is not there yet, and says so', async () => {
    const taken: string[] = [];
    await sourceOn('soon.x', async (message) => {
      taken.push(textOf(message));
      return { kind: 'done' };
    });
    await untilSo(
      () => told().includes('no stream holds soon.x'),
      () => told(),
    );
    await manager.streams.add({ name: 'SOON', subjects: ['soon.>'] });
    await publish('soon.x', ['a']);
    await untilSo(
      () => taken.length > 0,
      () => told(),
    );
    expect(taken).toEqual(['a']);
  });

  it('makes a stream where it is told to, and its consumer anew when it was removed', async () => {
    const taken: string[] = [];
    await sourceOn(
      'made.x',
      async (message) => {
        taken.push(textOf(message));
        return { kind: 'done' };
      },
      { create: true, stream: 'MADE' },
    );
    await untilSo(
      () => manager.consumers.info('MADE', 'sluice-test-made-x').then(Boolean, () => false),
      () => told(),
    );
    await publish('made.x', ['a']);
    await untilSo(
      () => taken.includes('a'),
      () => told(),
    );
    await manager.consumers.delete('MADE', 'sluice-test-made-x');
    await publish('made.x', ['b']);
    await untilSo(
      () => taken.includes('b'),
      () => told(),
      40_000,
    );
  }, 60_000);

  it('keeps a message whose take lasts longer than ack_wait', async () => {
    await manager.streams.add({ name: 'LONG', subjects: ['long.x'] });
    await publish('long.x', ['a']);
    let begun = 0;
    let done = 0;
    await sourceOn(
      'long.x',
      async () => {
        begun += 1;
        await new Promise((resolve) => setTimeout(resolve, 3_500));
        done += 1;
        return { kind: 'done' };
      },
      { ack_wait: '1s' },
    );
    await untilSo(
      () => done > 0,
      () => told(),
    );
    await untilSo(
      async () => (await manager.consumers.info('LONG', 'sluice-test-long-x')).num_ack_pending === 0,
      () => 'it is not acknowledged',
    );
    expect(begun).toBe(1);
  });

  it('is not held up by what it put off, at a concurrency of 1', async () => {
    await manager.streams.add({ name: 'LATER', subjects: ['later.x'] });
    await publish('later.x', ['wait', 'wait', 'go']);
    const taken: string[] = [];
    const take: Take = async (message) => {
      taken.push(textOf(message));
      return textOf(message) === 'go' ? { kind: 'done' } : { kind: 'later', afterMs: 60_000, reason: 'busy' };
    };
    await sourceOn('later.x', take, {}, 1);
    await untilSo(
      () => taken.includes('go'),
      () => taken.join(),
    );
    expect(taken.sort()).toEqual(['go', 'wait', 'wait']);
  });

  it('says that a consumer of another kind is of no use', async () => {
    await manager.streams.add({ name: 'PUSH', subjects: ['push.x'] });
    await manager.consumers.add('PUSH', { durable_name: 'pushed', deliver_subject: 'somewhere' });
    await sourceOn('push.x', async () => ({ kind: 'done' }), { durable: 'pushed' });
    await untilSo(
      () => told().includes('not a pull consumer'),
      () => told(),
    );
  });
});
