import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { nats } from '../../queues/sinks/nats.js';
import { EVENT_PREFIX, EVENT_VERSION } from '../../src/core/events.js';
import { startNats, type TestNats } from '../support/brokers/nats.js';
import type { ReceivedEvent } from '../support/bus-events.js';
import { type SinkServer, sinkSuite } from '../support/sink-suite.js';

const STREAM = 'SUITE';
const PASSWORD = 'nats-password-17';
const LOGIN = { user: 'sluice', pass: PASSWORD };
process.env.TEST_NATS_PASSWORD = PASSWORD;

const CONFIG = `
authorization { users: [ { user: "sluice", password: "${PASSWORD}" } ] }
max_payload: 65536
`;

/** Everything in the stream, from its beginning. */
async function readStream(server: TestNats): Promise<ReceivedEvent[]> {
  const client = await connect({ servers: server.place, ...LOGIN });
  try {
    return await readAll(client);
  } finally {
    await client.close();
  }
}

async function readAll(client: NatsConnection): Promise<ReceivedEvent[]> {
  const stream = await jetstream(client).streams.get(STREAM);
  const { state } = await stream.info();
  if (state.messages === 0) return [];
  const consumer = await stream.getConsumer();
  const found: ReceivedEvent[] = [];
  for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 5_000 })) {
    const type = EVENT_PREFIX + message.subject.slice('suite.'.length) + EVENT_VERSION;
    found.push({ id: message.headers?.get('Nats-Msg-Id') ?? '', type, body: message.string() });
    if (found.length === state.messages) break;
  }
  return found;
}

async function startServer(): Promise<SinkServer> {
  const server = await startNats({ config: CONFIG });
  return {
    target: `nats://${server.place}#suite.{type}`,
    options: { stream: STREAM, user: LOGIN.user, password: { env: 'TEST_NATS_PASSWORD' }, timeout: '3s' },
    kill: server.kill,
    restart: server.restart,
    stop: server.stop,
    received: () => readStream(server),
  };
}

sinkSuite('nats', {
  kind: nats,
  start: startServer,
  secrets: [PASSWORD],
  refused: (event) => ({
    ...event,
    json: JSON.stringify({ ...JSON.parse(event.json), pad: 'x'.repeat(70_000) }),
  }),
});
