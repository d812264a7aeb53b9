import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSecret } from '../../queues/secrets.js';
import { amqp as amqpSink } from '../../queues/sinks/amqp.js';
import { mqtt as mqttSink } from '../../queues/sinks/mqtt.js';
import { amqp as amqpSource } from '../../queues/sources/amqp.js';
import { mqtt as mqttSource } from '../../queues/sources/mqtt.js';
import type { SourceKind } from '../../src/ports/source.js';
import { startMosquitto, type TestMosquitto } from '../support/brokers/mosquitto.js';
import { startRabbit, type TestRabbit } from '../support/brokers/rabbitmq.js';
import { testEvents, untilSo } from '../support/bus-events.js';
import { makeCertificate, type TestCertificate } from '../support/certificate.js';
import { freePort } from '../support/redis.js';
import { attempt, openSink } from '../support/sink-suite.js';

const SINKS = [
  ['amqp', amqpSink],
  ['mqtt', mqttSink],
] as const;
const SOURCES = [
  ['amqp', amqpSource],
  ['mqtt', mqttSource],
] as const;

const ACCEPTS_NOTHING = 'silent';
const SAYS: Record<string, (socket: Socket) => void> = {
  [ACCEPTS_NOTHING]: () => {},
  'closing at once': (socket) => socket.destroy(),
  'talking rubbish': (socket) =>
    socket.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n\u0000\u00ff'.repeat(50))),
  'talking endless zeros': (socket) => {
    const write = () => {
      while (socket.writable && socket.write(Buffer.alloc(65_536)));
    };
    socket.on('drain', write);
    write();
  },
};

/** A server that is no broker. */
async function strangeServer(behave: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
    behave(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function openSource(kind: SourceKind, target: string, options: Record<string, unknown>, errors: Error[]) {
  const context = {
    name: 'tested',
    fleet: 'test',
    redisUrl: 'redis://127.0.0.1:1',
    concurrency: 4,
    secret: readSecret,
    onError: (error: Error) => errors.push(error),
  };
  return kind.open(target, kind.options.parse(options), context, async () => ({ kind: 'done' }));
}

describe.each(Object.entries(SAYS))('at a server that is %s', (_, behave) => {
  let server: Awaited<ReturnType<typeof strangeServer>>;
  beforeAll(async () => {
    server = await strangeServer(behave);
  });
  afterAll(() => server.stop());

  it.each(SINKS)('the sink %s is away in time, and leaves no connection behind', async (name, kind) => {
    const target = `${name}://127.0.0.1:${server.port}#x`;
    const sink = await openSink(kind, { target, options: { timeout: '500ms' } });
    const begun = performance.now();
    const failures = await attempt(sink, testEvents(3));
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect(failures.map(({ kind: what }) => what)).toEqual(['away', 'away', 'away']);
    expect(failures[0]?.reason).toMatch(/\S/);
    await sink.close();
    await untilSo(
      () => server.sockets.size === 0,
      () => `${server.sockets.size} connections are left`,
      3_000,
    );
  });

  it.each(SOURCES)('the source %s goes on trying, and closes in time', async (name, kind) => {
    const errors: Error[] = [];
    const target = `${name}://127.0.0.1:${server.port}#x`;
    const source = await openSource(kind, target, { timeout: '300ms' }, errors);
    await untilSo(
      () => errors.length > 0,
      () => 'nothing is said',
      3_000,
    );
    const begun = performance.now();
    await source.close(1_000);
    expect(performance.now() - begun).toBeLessThan(2_500);
    await untilSo(
      () => server.sockets.size === 0,
      () => `${server.sockets.size} connections are left`,
      3_000,
    );
  });
});

describe('over TLS', () => {
  let certificate: TestCertificate;
  let rabbit: TestRabbit;
  let mosquitto: TestMosquitto;
  let ports: Record<'amqp' | 'mqtt', number>;
  beforeAll(async () => {
    certificate = await makeCertificate();
    const { certFile, keyFile } = certificate;
    const tlsPort = await freePort();
    mosquitto = await startMosquitto({
      settings: ['allow_anonymous true', `certfile ${certFile}`, `keyfile ${keyFile}`],
    });
    rabbit = await startRabbit([
      `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
      `ssl_options.cacertfile = ${certFile}`,
      `ssl_options.certfile = ${certFile}`,
      `ssl_options.keyfile = ${keyFile}`,
      // Less than it needs: the broker raises its alarm, and stops those that publish.
      'vm_memory_high_watermark.absolute = 16MB',
    ]);
    ports = { amqp: tlsPort, mqtt: mosquitto.port };
  }, 60_000);
  afterAll(async () => {
    await Promise.all([rabbit?.stop(), mosquitto?.stop(), certificate?.remove()]);
  }, 30_000);

  it('the sink mqtt delivers to a broker that it trusts', async () => {
    const target = `mqtts://localhost:${ports.mqtt}#x`;
    const sink = await openSink(mqttSink, { target, options: { tls: { ca: certificate.certFile } } });
    expect(await attempt(sink, testEvents(3))).toEqual([]);
    await sink.close();
  });

  it.each(SOURCES)('the source %s listens at a broker that it trusts', async (name, kind) => {
    const errors: Error[] = [];
    const target = `${name}s://127.0.0.1:${ports[name]}#x`;
    const source = await openSource(kind, target, { tls: { ca: certificate.certFile } }, errors);
    expect(errors).toEqual([]);
    await source.close(100);
  });

  it.each(SINKS)('the sink %s is away from a broker that it does not trust', async (name, kind) => {
    const sink = await openSink(kind, { target: `${name}s://localhost:${ports[name]}#x` });
    expect(await attempt(sink, testEvents(1))).toEqual([
      expect.objectContaining({ kind: 'away', reason: expect.stringMatching(/certificate/) }),
    ]);
    await sink.close();
  });

  it.each(SINKS)('the sink %s names a file that it cannot read', async (name, kind) => {
    const target = `${name}s://localhost:${ports[name]}#x`;
    const sink = await openSink(kind, { target, options: { tls: { ca: '/nowhere/ca.pem' } } });
    expect(await attempt(sink, testEvents(1))).toEqual([
      expect.objectContaining({ kind: 'away', reason: expect.stringContaining('/nowhere/ca.pem') }),
    ]);
    await sink.close();
  });

  it('the sink amqp is away at once while the broker has raised an alarm', async () => {
    const target = `amqps://localhost:${ports.amqp}#x`;
    const options = { tls: { ca: certificate.certFile }, declare: true, timeout: '15s' };
    const sink = await openSink(amqpSink, { target, options });
    await untilSo(
      async () => (await attempt(sink, testEvents(1)))[0]?.kind === 'away',
      () => 'the broker raises no alarm',
    );
    const events = testEvents(3, 10);
    const begun = performance.now();
    expect(await attempt(sink, events)).toEqual(
      events.map(({ id }) => ({
        id,
        kind: 'away',
        reason: expect.stringMatching(/takes no messages now: low on memory/),
      })),
    );
    expect(performance.now() - begun).toBeLessThan(10_000);
    await sink.close();
  });
});
