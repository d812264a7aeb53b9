import { randomBytes } from 'node:crypto';
import { Connection } from 'rabbitmq-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { amqp } from '../../queues/sinks/amqp.js';
import { startRabbit, type TestRabbit } from '../support/brokers/rabbitmq.js';
import { type ReceivedEvent, testEvent, testEvents, untilSo } from '../support/bus-events.js';
import { attempt, openSink, type SinkServer, sinkSuite } from '../support/sink-suite.js';

const PASSWORD = 'correct-horse-battery';
const MAX_BYTES = 200_000;
process.env.TEST_RABBIT_PASSWORD = PASSWORD;

let rabbit: TestRabbit;
beforeAll(async () => {
  rabbit = await startRabbit([
    'default_user = sluice-tester',
    `default_pass = ${PASSWORD}`,
    `max_message_size = ${MAX_BYTES}`,
  ]);
}, 120_000);
afterAll(async () => {
  await rabbit?.stop();
}, 30_000);

const login = { user: 'sluice-tester', password: { env: 'TEST_RABBIT_PASSWORD' } };

function connected(): Connection {
  const connection = new Connection({
    url: `amqp://sluice-tester:${PASSWORD}@127.0.0.1:${rabbit.port}`,
    retryLow: 50,
    retryHigh: 200,
  });
  connection.on('error', () => {});
  return connection;
}

interface Bound {
  connection: Connection;
  received: (ReceivedEvent & { headers: Record<string, unknown>; contentType: string | undefined })[];
  end(): Promise<void>;
}

/** Keeps what arrives in a durable queue that is bound to an exchange. */
async function bind(exchange: string, routingKey = '#'): Promise<Bound> {
  const connection = connected();
  const queue = `heard-${randomBytes(4).toString('hex')}`;
  const received: Bound['received'] = [];
  const consumer = connection.createConsumer(
    {
      queue,
      queueOptions: { durable: true },
      exchanges: [{ exchange, type: 'topic', durable: true }],
      queueBindings: [{ exchange, routingKey }],
      qos: { prefetchCount: 100 },
    },
    ({ messageId = '', type = '', body, headers = {}, contentType }) => {
      const text = Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body);
      received.push({ id: messageId, type, body: text, headers, contentType });
    },
  );
  consumer.on('error', () => {});
  await new Promise<void>((resolve) => consumer.once('ready', resolve));
  return {
    connection,
    received,
    async end() {
      connection.unsafeDestroy();
    },
  };
}

sinkSuite('amqp', {
  kind: amqp,
  secrets: [PASSWORD],
  responds: true,
  refused: (event) => ({
    ...event,
    json: event.json.replace('"data":{', `"data":{"big":"${'x'.repeat(MAX_BYTES)}",`),
  }),
  async start(): Promise<SinkServer> {
    const bound = await bind('events');
    return {
      target: `amqp://127.0.0.1:${rabbit.port}#events`,
      options: login,
      received: async () => bound.received.map(({ id, type, body }) => ({ id, type, body })),
      kill: () => rabbit.kill(),
      restart: () => rabbit.restart(),
      stop: () => bound.end(),
    };
  },
});

describe('the sink amqp, besides', () => {
  const at = (place: string) => `amqp://127.0.0.1:${rabbit.port}#${place}`;
  const open = (place: string, options: Record<string, unknown> = {}, errors: Error[] = []) =>
    openSink(amqp, { target: at(place), options: { ...login, ...options } }, errors);

  it('refuses an event that no queue takes, and no other', async () => {
    const bound = await bind('some', 'plan.#');
    const sink = await open('some');
    try {
      const routed = { ...testEvent(1), type: 'dev.sluice.plan.failed.v1' };
      const failures = await sink.deliver([testEvent(2), routed, testEvent(3)]);
      expect(failures.map(({ id, kind, response }) => [id, kind, response])).toEqual(
        [2, 3].map((n) => [testEvent(n).id, 'refused', '312 NO_ROUTE']),
      );
      await untilSo(
        () => bound.received.length === 1,
        () => 'nothing came',
      );
    } finally {
      await sink.close();
      await bound.end();
    }
  });

  it('does not ask whether a queue takes an event when that is not mandatory', async () => {
    const sink = await open('unheard', { declare: true, mandatory: false });
    expect(await sink.deliver(testEvents(2))).toEqual([]);
    await sink.close();
  });

  it('is away while its exchange is missing, and makes it when it may', async () => {
    const sink = await open('missing');
    const events = testEvents(3);
    const failures = await attempt(sink, events);
    expect(failures.map(({ kind }) => kind)).toEqual(['away', 'away', 'away']);
    for (const { reason } of failures) expect(reason).toContain("no exchange 'missing'");
    const maker = await open('missing', { declare: true, mandatory: false });
    expect(await maker.deliver(events)).toEqual([]);
    expect(await attempt(sink, events)).toEqual(
      events.map(({ id }) => expect.objectContaining({ id, kind: 'refused' })),
    );
    await Promise.all([sink.close(), maker.close()]);
  });

  it('leaves an exchange of another type as it is', async () => {
    const connection = connected();
    const channel = await connection.acquire();
    await channel.exchangeDeclare({ exchange: 'fan', type: 'fanout', durable: true });
    const { queue } = await channel.queueDeclare({ exclusive: true });
    await channel.queueBind({ exchange: 'fan', queue, routingKey: '' });
    const sink = await open('fan', { declare: true });
    expect(await sink.deliver([testEvent(1)])).toEqual([]);
    await sink.close();
    connection.unsafeDestroy();
  });

  it('sends attributes as headers in binary mode, persistent, by the routing key', async () => {
    const bound = await bind('binary', 'to.evaluation.passed.evaluation-7');
    const sink = await open('binary', { mode: 'binary', routing_key: 'to.{type}.{subject}' });
    try {
      expect(await sink.deliver([testEvent(7)])).toEqual([]);
      await untilSo(
        () => bound.received.length === 1,
        () => 'nothing came',
      );
      const { data, datacontenttype, ...attributes } = JSON.parse(testEvent(7).json);
      const headers = Object.entries(attributes).map(([name, value]) => [`cloudEvents:${name}`, value]);
      expect(bound.received[0]).toEqual({
        id: testEvent(7).id,
        type: testEvent(7).type,
        body: JSON.stringify(data),
        contentType: datacontenttype,
        headers: Object.fromEntries(headers),
      });
    } finally {
      await sink.close();
      await bound.end();
    }
  });

  it('does not let an event that upsets the broker fail those of another delivery', async () => {
    const bound = await bind('upset');
    const sink = await open('upset');
    const big = testEvent(50, 'x'.repeat(MAX_BYTES + 1));
    try {
      const all = await Promise.all([
        sink.deliver([...testEvents(20), big]),
        ...[100, 200, 300].map((first) => sink.deliver(testEvents(20, first))),
      ]);
      expect(all.flat()).toEqual([
        expect.objectContaining({
          id: big.id,
          kind: 'refused',
          final: true,
          reason: expect.stringMatching(/size/),
        }),
      ]);
      await untilSo(
        () => new Set(bound.received.map(({ id }) => id)).size === 80,
        () => `${bound.received.length} came`,
      );
    } finally {
      await sink.close();
      await bound.end();
    }
  });

  it('is away with a reason that shows no credentials when they are wrong', async () => {
    process.env.TEST_RABBIT_WRONG = 'not-the-password';
    const errors: Error[] = [];
    const sink = await open('events', { password: { env: 'TEST_RABBIT_WRONG' } }, errors);
    const [failure] = await attempt(sink, [testEvent(1)]);
    expect(failure).toEqual(
      expect.objectContaining({ kind: 'away', reason: expect.stringMatching(/refused/i) }),
    );
    expect(JSON.stringify([failure, errors.map(({ message }) => message)])).not.toMatch(
      /not-the-password|sluice-tester/,
    );
    process.env.TEST_RABBIT_WRONG = PASSWORD;
    expect(await attempt(sink, [{ ...testEvent(1) }])).not.toEqual([
      expect.objectContaining({ kind: 'away' }),
    ]);
    await sink.close();
  });

  it('stops when it is told to', async () => {
    const sink = await open('events');
    const stopped = new AbortController();
    stopped.abort();
    expect(await sink.deliver([testEvent(1)], stopped.signal)).toEqual([
      expect.objectContaining({ kind: 'away', reason: 'the delivery was stopped' }),
    ]);
    await sink.close();
  });
});
