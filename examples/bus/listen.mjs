// Prints what comes to a NATS subject, one line a CloudEvent: node listen.mjs SUBJECT [URL]
import { connect } from '@nats-io/transport-node';

const [subject = 'sluice.events.>', servers = 'nats://127.0.0.1:4222'] = process.argv.slice(2);
const connection = await connect({ servers });
const messages = connection.subscribe(subject);
await connection.flush();
console.log(`listening to ${subject}`);
for await (const message of messages) {
  const { type, subject: about, data } = message.json();
  console.log(`nats: ${type} ${about} ${data.decision ?? ''}`.trimEnd());
}
