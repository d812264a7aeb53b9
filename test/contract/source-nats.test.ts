import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { nats } from '../../queues/sources/nats.js';
import { encodeAttribute, STRUCTURED_TYPE } from '../../src/core/http-binding.js';
import { startNats, type TestNats } from '../support/brokers/nats.js';
import {
  type MessageMode,
  type PublishedEvent,
  type SourceServer,
  sourceSuite,
  structured,
} from '../support/source-suite.js';

const TOKEN = 'nats-token-23';
process.env.TEST_NATS_TOKEN = TOKEN;

async function withClient<T>(server: TestNats, use: (client: NatsConnection) => Promise<T>): Promise<T> {
  const client = await connect({ servers: server.place, token: TOKEN });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

function messageOf({ id, source, type, data }: PublishedEvent, mode: MessageMode) {
  const fields = headers();
  if (mode === 'structured') {
    fields.set('Content-Type', STRUCTURED_TYPE);
    return { fields, body: structured({ id, source, type, data }) };
  }
  const attributes = { specversion: '1.0', id, source, type, datacontenttype: 'application/json' };
  for (const [name, value] of Object.entries(attributes)) fields.set(`ce-${name}`, encodeAttribute(value));
  return { fields, body: JSON.stringify(data) };
}

function publish(server: TestNats, subject: string, events: readonly PublishedEvent[], mode: MessageMode) {
  return withClient(server, async (client) => {
    const stream = jetstream(client);
    for (const event of events) {
      const { fields, body } = messageOf(event, mode);
      await stream.publish(subject, body, { headers: fields });
    }
  });
}

async function placeOf(server: TestNats, name: string): Promise<SourceServer> {
  const subject = `commands.${name}`;
  await withClient(server, async (client) => {
    const manager = await jetstreamManager(client);
    await manager.streams.add({ name, subjects: [subject] });
  });
  return {
    target: `nats://${server.place}#${subject}`,
    options: { token: { env: 'TEST_NATS_TOKEN' }, timeout: '3s' },
    publish: (events, mode) => publish(server, subject, events, mode),
    kill: server.kill,
    restart: server.restart,
    stop: server.stop,
  };
}

sourceSuite('nats', {
  kind: nats,
  modes: ['structured', 'binary'],
  secrets: [TOKEN],
  async start() {
    const server = await startNats({ config: `authorization { token: "${TOKEN}" }` });
    return { place: (name) => placeOf(server, name), stop: server.stop };
  },
});
