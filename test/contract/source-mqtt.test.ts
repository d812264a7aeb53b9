import { connect, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mqtt } from '../../queues/sources/mqtt.js';
import type { IncomingMessage, Source, Taken } from '../../src/ports/source.js';
import { startMosquitto, type TestMosquitto } from '../support/brokers/mosquitto.js';
import { untilSo } from '../support/bus-events.js';
import {
  type MessageMode,
  type PublishedEvent,
  type SourceServer,
  sourceSuite,
  structured,
} from '../support/source-suite.js';

const DONE: Taken = { kind: 'done' };

let mosquitto: TestMosquitto;
let client: MqttClient;
beforeAll(async () => {
  mosquitto = await startMosquitto();
  client = connect({
    host: '127.0.0.1',
    port: mosquitto.port,
    protocolVersion: 5,
    reconnectPeriod: 50,
    reconnectOnConnackError: true,
  });
  client.on('error', () => {});
}, 30_000);
afterAll(async () => {
  await client?.endAsync(true);
  await mosquitto?.stop();
}, 30_000);

async function publish(topic: string, event: PublishedEvent, mode: MessageMode): Promise<void> {
  if (mode === 'structured') {
    const properties = { contentType: 'application/cloudevents+json' };
    await client.publishAsync(topic, structured(event), { qos: 1, properties });
    return;
  }
  const { data, ...attributes } = event;
  const userProperties = { specversion: '1.0', ...attributes, 'not-an-attribute': 'x' };
  const properties = { contentType: 'application/json', userProperties };
  await client.publishAsync(topic, JSON.stringify(data), { qos: 1, properties });
}

sourceSuite('mqtt', {
  kind: mqtt,
  modes: ['structured', 'binary'],
  subscribesFirst: true,
  async start() {
    return {
      async place(name): Promise<SourceServer> {
        return {
          target: `mqtt://127.0.0.1:${mosquitto.port}#${name}/#`,
          async publish(events, mode) {
            await Promise.all(events.map((event) => publish(`${name}/plan`, event, mode)));
            await mosquitto.save();
          },
          kill: () => mosquitto.kill(),
          restart: () => mosquitto.restart(),
          stop: async () => {},
        };
      },
      stop: async () => {},
    };
  },
});

describe('the source mqtt, besides', () => {
  async function listen(
    topic: string,
    take: (message: IncomingMessage) => Promise<Taken>,
    { options = {}, errors = [], concurrency = 4, name = 'tested' } = {} as {
      options?: Record<string, unknown>;
      errors?: Error[];
      concurrency?: number;
      name?: string;
    },
  ): Promise<Source> {
    return await mqtt.open(
      `mqtt://127.0.0.1:${mosquitto.port}#${topic}`,
      mqtt.options.parse(options),
      {
        name,
        fleet: 'test',
        redisUrl: 'redis://127.0.0.1:1',
        concurrency,
        secret: async () => 'guest',
        onError: (error) => errors.push(error),
      },
      take,
    );
  }

  it('shares a topic with others of its group', async () => {
    const taken: [number, string][] = [];
    const sources = await Promise.all(
      [1, 2].map((n) =>
        listen(
          '$share/group/shared/+',
          async ({ body }) => {
            taken.push([n, Buffer.from(body).toString()]);
            return DONE;
          },
          { name: `shared-${n}` },
        ),
      ),
    );
    const texts = Array.from({ length: 20 }, (_, n) => `text ${n}`);
    await Promise.all(texts.map((text) => client.publishAsync('shared/x', text, { qos: 1 })));
    await untilSo(
      () => taken.length >= 20,
      () => `${taken.length} taken`,
    );
    expect(taken.map(([, text]) => text).sort()).toEqual(texts.sort());
    expect(new Set(taken.map(([n]) => n)).size).toBe(2);
    await Promise.all(sources.map((source) => source.close(1_000)));
  });

  it('says so when another client takes its session, and does not fight for it', async () => {
    const errors: Error[] = [];
    const options = { client_id: 'the-same' };
    const first = await listen('taken-over', async () => DONE, { options, errors });
    const second = await listen('taken-over', async () => DONE, { options, errors });
    const isTold = () =>
      errors.some(({ message }) => /another client takes the session the-same/.test(message));
    await untilSo(isTold, () => JSON.stringify(errors.map(({ message }) => message)));
    const told = errors.length;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(errors.length).toBe(told);
    await Promise.all([first.close(100), second.close(100)]);
  });

  it('reads messages without acknowledgement no faster than they are taken', async () => {
    let inHand = 0;
    let most = 0;
    let done = 0;
    const source = await listen(
      'unsafe',
      async () => {
        inHand += 1;
        most = Math.max(most, inHand);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inHand -= 1;
        done += 1;
        return DONE;
      },
      { concurrency: 2 },
    );
    await Promise.all(Array.from({ length: 20 }, () => client.publishAsync('unsafe', 'x', { qos: 0 })));
    await untilSo(
      () => done === 20,
      () => `${done} done`,
    );
    expect(most).toBeLessThanOrEqual(2);
    await source.close(1_000);
  });

  it('takes what was retained once', async () => {
    await client.publishAsync('retained', 'kept', { qos: 1, retain: true });
    let taken = 0;
    const take = async () => {
      taken += 1;
      return DONE;
    };
    const first = await listen('retained', take);
    await untilSo(
      () => taken === 1,
      () => 'nothing taken',
    );
    await first.close(1_000);
    const again = await listen('retained', take);
    await client.publishAsync('retained', 'next', { qos: 1 });
    await untilSo(
      () => taken >= 2,
      () => 'nothing more taken',
    );
    expect(taken).toBe(2);
    await again.close(1_000);
  });
});
