// Sends a file with a CloudEvent to a NATS subject and waits until its stream has it: node send.mjs SUBJECT FILE [URL]
import { readFile } from 'node:fs/promises';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const [subject, file, servers = 'nats://127.0.0.1:4222'] = process.argv.slice(2);
const connection = await connect({ servers });
const { stream, seq } = await jetstream(connection).publish(subject, await readFile(file));
console.log(`sent as ${stream} ${seq}`);
await connection.close();
