import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { webhook } from '../../queues/sinks/webhook.js';
import { verifyWebhook } from '../../src/webhook.js';
import type { ReceivedEvent } from '../support/bus-events.js';
import { type SinkServer, sinkSuite } from '../support/sink-suite.js';

const RECEIVER = new URL('../support/webhook-receiver.mjs', import.meta.url).pathname;
const KEY = Buffer.alloc(32, 'sluice test key').toString('base64');
const TOKEN = 'a-token-of-the-receiver';

interface Kept {
  headers: Record<string, string>;
  body: string;
}

/** What the suite compares, of a request whose signature holds. */
function eventsOf({ headers, body }: Kept): ReceivedEvent[] {
  const events = verifyWebhook({ headers, body, secrets: `whsec_${KEY}` });
  if (headers['content-type'] === 'application/cloudevents+json')
    return events.map(({ id, type }) => ({ id, type, body }));
  if (headers['content-type'] === 'application/cloudevents-batch+json')
    return events.map((event) => ({ id: event.id, type: event.type, body: JSON.stringify(event) }));
  return events.map((event) => {
    // The events of the suite have a number in their data; what has none was projected.
    if (event.data?.n === undefined) return { id: event.id, type: event.type, body };
    const { data, datacontenttype, ...attributes } = event;
    const { specversion, id, source, type, subject, time, ...extensions } = attributes;
    const ordered = { specversion, id, source, type, subject, time, datacontenttype, ...extensions, data };
    return { id, type, body: JSON.stringify(ordered) };
  });
}

async function start(mode: string): Promise<SinkServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-webhook-'));
  const [file, secret, token] = ['requests', 'secret', 'token'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([
    writeFile(file, ''),
    writeFile(secret, `whsec_${KEY}\n`),
    writeFile(token, `Bearer ${TOKEN}`),
  ]);
  let child: ChildProcess | undefined;
  let port = '0';
  const restart = async () => {
    const started = spawn(process.execPath, [RECEIVER, port, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    const lines = createInterface({ input: started.stdout });
    [port] = (await once(lines, 'line')) as [string];
  };
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await restart();
  return {
    target: `http://127.0.0.1:${port}/hooks?from=sluice`,
    options: {
      mode,
      allow_private: true,
      secrets: [{ file: secret }],
      headers_secret: { Authorization: { file: token } },
    },
    kill,
    restart,
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
    received: async () => {
      const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.flatMap((line) => eventsOf(JSON.parse(line) as Kept));
    },
  };
}

for (const mode of ['structured', 'binary', 'batched'])
  sinkSuite(`webhook, ${mode}`, {
    kind: webhook,
    start: () => start(mode),
    refused: (event) => ({ ...event, json: event.json.replace('quoted', 'REFUSE-ME') }),
    responds: true,
    secrets: [KEY, TOKEN],
  });
