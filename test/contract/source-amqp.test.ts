import { Connection, type Envelope } from 'rabbitmq-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { amqp } from '../../queues/sources/amqp.js';
import type { IncomingMessage, Source, Taken } from '../../src/ports/source.js';
import { startRabbit, type TestRabbit } from '../support/brokers/rabbitmq.js';
import { untilSo } from '../support/bus-events.js';
import { type PublishedEvent, type SourceServer, sourceSuite, structured } from '../support/source-suite.js';

const DONE: Taken = { kind: 'done' };

let rabbit: TestRabbit;
let connection: Connection;
beforeAll(async () => {
  rabbit = await startRabbit();
  connection = new Connection({ url: rabbit.url, retryLow: 50, retryHigh: 200 });
  connection.on('error', () => {});
}, 120_000);
afterAll(async () => {
  connection?.unsafeDestroy();
  await rabbit?.stop();
}, 30_000);

/** Publishes to the default exchange, and waits until all are confirmed. */
async function publish(
  queue: string,
  messages: [envelope: Envelope, body: string | Buffer][],
): Promise<void> {
  const channel = await connection.acquire();
  await channel.queueDeclare({ queue, durable: true });
  await channel.confirmSelect();
  await Promise.all(
    messages.map(([envelope, body]) =>
      channel.basicPublish({ routingKey: queue, durable: true, ...envelope }, Buffer.from(body)),
    ),
  );
  await channel.close();
}

function binary({ data, ...attributes }: PublishedEvent): [Envelope, string] {
  const all = { specversion: '1.0', ...attributes };
  const headers = Object.entries(all).map(([name, value]) => [`cloudEvents:${name}`, value]);
  return [{ contentType: 'application/json', headers: Object.fromEntries(headers) }, JSON.stringify(data)];
}

sourceSuite('amqp', {
  kind: amqp,
  modes: ['structured', 'binary'],
  secrets: ['guest'],
  async start() {
    return {
      async place(name): Promise<SourceServer> {
        return {
          target: `amqp://127.0.0.1:${rabbit.port}#${name}`,
          publish: (events, mode) =>
            publish(
              name,
              events.map((event) =>
                mode === 'binary'
                  ? binary(event)
                  : [{ contentType: 'application/cloudevents+json' }, structured(event)],
              ),
            ),
          kill: () => rabbit.kill(),
          restart: () => rabbit.restart(),
          stop: async () => {},
        };
      },
      stop: async () => {},
    };
  },
});

describe('the source amqp, besides', () => {
  const errors: Error[] = [];
  async function listen(
    place: string,
    options: Record<string, unknown>,
    take: (message: IncomingMessage) => Promise<Taken>,
  ): Promise<Source> {
    return await amqp.open(
      `amqp://127.0.0.1:${rabbit.port}#${place}`,
      amqp.options.parse(options),
      {
        name: 'tested',
        fleet: 'test',
        redisUrl: 'redis://127.0.0.1:1',
        concurrency: 4,
        secret: async () => 'guest',
        onError: (error) => errors.push(error),
      },
      take,
    );
  }

  it('makes its queue and binds it', async () => {
    const channel = await connection.acquire();
    await channel.exchangeDeclare({ exchange: 'commands', type: 'topic', durable: true });
    const taken: string[] = [];
    const bind = [{ exchange: 'commands', routing_key: 'plan.*' }];
    const source = await listen('bound', { bind }, async ({ body }) => {
      taken.push(Buffer.from(body).toString());
      return DONE;
    });
    await channel.confirmSelect();
    const send = (routingKey: string, text: string) =>
      channel.basicPublish({ exchange: 'commands', routingKey }, Buffer.from(text));
    await Promise.all([send('plan.created', 'yes'), send('other.created', 'no'), send('plan.fixed', 'too')]);
    await untilSo(
      () => taken.length >= 2,
      () => `${taken.length} taken`,
    );
    expect(taken.sort()).toEqual(['too', 'yes']);
    await source.close(1_000);
    await channel.close();
  });

  it('waits for a queue that it may not make', async () => {
    const taken: string[] = [];
    const source = await listen('late', { declare: false }, async ({ body }) => {
      taken.push(Buffer.from(body).toString());
      return DONE;
    });
    await untilSo(
      () => errors.some(({ message }) => message.includes("no queue 'late'")),
      () => JSON.stringify(errors.map(({ message }) => message)),
    );
    await publish('late', [[{}, 'here']]);
    await untilSo(
      () => taken.length === 1,
      () => 'nothing taken',
    );
    await source.close(1_000);
  });

  it('goes on when its queue is deleted', async () => {
    const taken: string[] = [];
    const source = await listen('deleted', {}, async ({ body }) => {
      taken.push(Buffer.from(body).toString());
      return DONE;
    });
    const channel = await connection.acquire();
    await channel.queueDelete({ queue: 'deleted' });
    await publish('deleted', [[{}, 'again']]);
    await untilSo(
      () => taken.length === 1,
      () => 'nothing taken',
    );
    await source.close(1_000);
    await channel.close();
  });

  it.each<[string, Envelope, string, Record<string, string>]>([
    ['text', { contentType: 'text/plain' }, 'é {"a": 1}', {}],
    ['JSON that is none', { contentType: 'application/json' }, '{"a":', {}],
    ['JSON', { contentType: 'application/json' }, '{"__proto__":{"a":1},"b":"\u2028"}', {}],
    ['a JSON string', { contentType: 'application/json' }, '"a"', {}],
    ['bytes without a type', {}, 'bytes', {}],
    ['nothing', {}, '', {}],
    [
      'attributes of all types',
      { headers: { cloudEvents_id: 'a', 'cloudEvents:n': 1, 'cloudEvents:b': true, other: 'x' } },
      'x',
      { id: 'a', n: '1', b: 'true' },
    ],
  ])('hands over %s as it is', async (name, envelope, body, attributes) => {
    const queue = `as-it-is-${name}`;
    await publish(queue, [[envelope, body]]);
    const taken: IncomingMessage[] = [];
    const source = await listen(queue, {}, async (message) => {
      taken.push(message);
      return DONE;
    });
    await untilSo(
      () => taken.length === 1,
      () => 'nothing taken',
    );
    expect(Buffer.from(taken[0]?.body ?? []).toString()).toBe(body);
    expect(taken[0]?.attributes).toEqual(attributes);
    expect(taken[0]?.contentType).toBe(envelope.contentType);
    await source.close(1_000);
  });

  it('survives JSON that is nested too deep, and a take that throws', async () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    await publish('hostile', [
      [{ contentType: 'application/json' }, deep],
      [{}, 'after'],
    ]);
    const taken: string[] = [];
    let throws = 1;
    const source = await listen('hostile', {}, async ({ body }) => {
      if (throws-- > 0) throw new Error('it broke');
      taken.push(Buffer.from(body).toString().slice(0, 20));
      return DONE;
    });
    await untilSo(
      () => taken.length === 2,
      () => `${taken.length} taken`,
    );
    expect(taken).toContain('after');
    await source.close(1_000);
  });
});
