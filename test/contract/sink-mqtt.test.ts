import { connect, type IPublishPacket, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mqtt } from '../../queues/sinks/mqtt.js';
import { startMosquitto, type TestMosquitto } from '../support/brokers/mosquitto.js';
import { testEvent, testEvents, untilSo } from '../support/bus-events.js';
import { attempt, openSink, type SinkServer, sinkSuite } from '../support/sink-suite.js';

const MAX_BYTES = 100_000;

let mosquitto: TestMosquitto;
beforeAll(async () => {
  mosquitto = await startMosquitto({
    savesAlways: true,
    settings: ['allow_anonymous true', `max_packet_size ${MAX_BYTES}`],
  });
}, 30_000);
afterAll(async () => {
  await mosquitto?.stop();
}, 30_000);

interface Subscribed {
  client: MqttClient;
  received: IPublishPacket[];
  end(): Promise<void>;
}

/** Keeps what is published to a topic, with a session that outlives the broker. */
async function subscribe(clientId: string, topic: string): Promise<Subscribed> {
  const client = connect({
    port: mosquitto.port,
    host: '127.0.0.1',
    protocolVersion: 5,
    clean: false,
    clientId,
    reconnectPeriod: 50,
    reconnectOnConnackError: true,
    properties: { sessionExpiryInterval: 3_600 },
  });
  const received: IPublishPacket[] = [];
  client.on('error', () => {});
  client.on('message', (_topic, _payload, packet) => received.push(packet));
  await client.subscribeAsync(topic, { qos: 2 });
  return { client, received, end: () => client.endAsync(true) };
}

const userPropertyOf = (packet: IPublishPacket, name: string) =>
  String(packet.properties?.userProperties?.[name] ?? '');

sinkSuite('mqtt', {
  kind: mqtt,
  refused: (event) => ({
    ...event,
    json: event.json.replace('"data":{', `"data":{"big":"${'x'.repeat(MAX_BYTES)}",`),
  }),
  async start(): Promise<SinkServer> {
    const subscribed = await subscribe('suite', 'events/#');
    return {
      target: `mqtt://127.0.0.1:${mosquitto.port}#events/{type}`,
      received: async () =>
        subscribed.received.map((packet) => ({
          id: userPropertyOf(packet, 'sluice-id'),
          type: userPropertyOf(packet, 'sluice-type'),
          body: packet.payload.toString(),
        })),
      kill: () => mosquitto.kill(),
      restart: () => mosquitto.restart(),
      stop: () => subscribed.end(),
    };
  },
});

describe('the sink mqtt, besides', () => {
  const at = (topic: string, port = mosquitto.port) => `mqtt://127.0.0.1:${port}#${topic}`;
  const open = (topic: string, options: Record<string, unknown> = {}) =>
    openSink(mqtt, { target: at(topic), options });

  it.each([1, 2])('publishes to the topic of each event with QoS %i, not retained', async (qos) => {
    const subscribed = await subscribe(`topics-${qos}`, `q${qos}/#`);
    const sink = await open(`q${qos}/{type}/of/{subject}`, { qos });
    try {
      const odd = testEvent(2);
      const json = odd.json.replace('evaluation-2', 'a/b+#c');
      expect(await sink.deliver([testEvent(1), { ...odd, json }])).toEqual([]);
      await untilSo(
        () => subscribed.received.length === 2,
        () => `${subscribed.received.length} came`,
      );
      expect(subscribed.received.map(({ topic, qos: given, retain }) => [topic, given, retain])).toEqual([
        [`q${qos}/evaluation/passed/of/evaluation-1`, qos, false],
        [`q${qos}/evaluation/passed/of/a%2Fb%2B%23c`, qos, false],
      ]);
      expect(subscribed.received[0]?.properties?.contentType).toBe(
        'application/cloudevents+json; charset=utf-8',
      );
    } finally {
      await sink.close();
      await subscribed.end();
    }
  });

  it('sends attributes as user properties in binary mode', async () => {
    const subscribed = await subscribe('binary', 'binary');
    const sink = await open('binary', { mode: 'binary' });
    try {
      expect(await sink.deliver([testEvent(7)])).toEqual([]);
      await untilSo(
        () => subscribed.received.length === 1,
        () => 'nothing came',
      );
      const { data, datacontenttype, ...attributes } = JSON.parse(testEvent(7).json);
      const [packet] = subscribed.received;
      expect(packet?.payload.toString()).toBe(JSON.stringify(data));
      expect(packet?.properties?.contentType).toBe(datacontenttype);
      expect({ ...packet?.properties?.userProperties }).toEqual(attributes);
    } finally {
      await sink.close();
      await subscribed.end();
    }
  });

  it('takes it for delivered when nobody subscribes', async () => {
    const sink = await open('unheard');
    expect(await sink.deliver(testEvents(3))).toEqual([]);
    await sink.close();
  });

  it('counts the bytes of a packet as the broker does', async () => {
    const sink = await open('size');
    const bodyOf = (bytes: number) => {
      const event = testEvent(1, '');
      return { ...event, json: event.json.replace('"text":""', `"text":"${'x'.repeat(bytes)}"`) };
    };
    const [failure] = await sink.deliver([bodyOf(MAX_BYTES)]);
    const over = Number(/has (\d+) bytes/.exec(failure?.reason ?? '')?.[1]) - MAX_BYTES;
    expect(over).toBeGreaterThan(0);
    expect(await sink.deliver([bodyOf(MAX_BYTES - over)])).toEqual([]);
    expect(await sink.deliver([bodyOf(MAX_BYTES - over + 1)])).toEqual([
      expect.objectContaining({ kind: 'refused', final: true }),
    ]);
    await sink.close();
  });

  it('stops when it is told to', async () => {
    const sink = await open('stopped');
    const stopped = new AbortController();
    stopped.abort();
    expect(await sink.deliver([testEvent(1)], stopped.signal)).toEqual([
      expect.objectContaining({ kind: 'away', reason: 'the delivery was stopped' }),
    ]);
    await sink.close();
  });
});

describe('the sink mqtt at a broker with users', () => {
  it('shows no credentials, takes new ones, and is refused what it may not publish', async () => {
    const { mkdtemp, rm, writeFile } = await import('node:fs/promises');
    const { tmpdir } = await import('node:os');
    const { join } = await import('node:path');
    const { execFileSync } = await import('node:child_process');
    const dir = await mkdtemp(join(tmpdir(), 'sluice-mqtt-users-'));
    const [users, allowed] = [join(dir, 'users'), join(dir, 'allowed')];
    await writeFile(users, 'tester:right-password-here\n');
    execFileSync('mosquitto_passwd', ['-U', users]);
    await writeFile(allowed, 'user tester\ntopic write allowed/#\n');
    const broker = await startMosquitto({
      settings: ['allow_anonymous false', `password_file ${users}`, `acl_file ${allowed}`],
    });
    process.env.TEST_MQTT_PASSWORD = 'wrong-password-here';
    const errors: Error[] = [];
    const options = { user: 'tester', password: { env: 'TEST_MQTT_PASSWORD' } };
    const target = (topic: string) => `mqtt://127.0.0.1:${broker.port}#${topic}`;
    const sink = await openSink(mqtt, { target: target('allowed/x'), options }, errors);
    const denied = await openSink(mqtt, { target: target('denied'), options }, errors);
    try {
      const [failure] = await attempt(sink, [testEvent(1)]);
      expect(failure).toEqual(
        expect.objectContaining({ kind: 'away', reason: expect.stringMatching(/not authorized/i) }),
      );
      process.env.TEST_MQTT_PASSWORD = 'right-password-here';
      expect(await attempt(sink, [testEvent(1)])).toEqual([]);
      expect(await attempt(denied, testEvents(2))).toEqual(
        testEvents(2).map(({ id }) => ({
          id,
          kind: 'refused',
          reason: 'the broker refuses it: not authorized',
          response: '135 not authorized',
        })),
      );
      expect(JSON.stringify([failure, errors.map(({ message }) => message)])).not.toContain('password-here');
    } finally {
      await sink.close();
      await denied.close();
      await broker.stop();
      await rm(dir, { recursive: true, force: true });
    }
  });
});
