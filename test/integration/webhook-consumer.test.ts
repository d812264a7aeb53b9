import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface, type Interface } from 'node:readline';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { webhook } from '../../queues/sinks/webhook.js';
import type { Sink } from '../../src/ports/sink.js';
import { testEvent, testEvents } from '../support/bus-events.js';
import { openSink } from '../support/sink-suite.js';

const CONSUMER = new URL('../../examples/webhook-consumer/consumer.mjs', import.meta.url).pathname;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const VARIABLE = 'SLUICE_TEST_WEBHOOK_SECRET';

let child: ChildProcess;
let lines: AsyncIterator<string>;
let reader: Interface;
let sink: Sink;
let port: number;

beforeAll(() => {
  process.env[VARIABLE] = SECRET;
  return () => delete process.env[VARIABLE];
});

async function start(env: Record<string, string>, options: Record<string, unknown> = {}): Promise<void> {
  const started = spawn(process.execPath, [CONSUMER], {
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  reader = createInterface({ input: started.stdout });
  lines = reader[Symbol.asyncIterator]();
  port = Number((await lines.next()).value.replace('listening on ', ''));
  const given = { allow_private: true, secrets: [{ env: VARIABLE }], ...options };
  sink = await openSink(webhook, { target: `http://127.0.0.1:${port}/`, options: given });
}

afterEach(async () => {
  await sink?.close();
  const ended = once(child, 'exit');
  child.kill();
  await ended;
  reader.close();
});

describe('the example of a consumer', () => {
  it('verifies events, prints each once and drops repeats', async () => {
    await start({ WEBHOOK_SECRET: `${OTHER} ${SECRET}` });
    for (let round = 0; round < 2; round += 1) expect(await sink.deliver(testEvents(2))).toEqual([]);
    expect(await sink.deliver([testEvent(9)])).toEqual([]);
    const printed = [await lines.next(), await lines.next(), await lines.next()].map(({ value }) => value);
    expect(printed).toEqual([0, 1, 9].map((n) => `webhook: dev.sluice.evaluation.passed.v1 evaluation-${n}`));
  });

  it('takes lists of events', async () => {
    await start({ WEBHOOK_SECRET: SECRET }, { mode: 'batched' });
    expect(await sink.deliver(testEvents(2))).toEqual([]);
    expect((await lines.next()).value).toContain('evaluation-0');
    expect((await lines.next()).value).toContain('evaluation-1');
  });

  it('refuses what another secret has signed', async () => {
    await start({ WEBHOOK_SECRET: OTHER });
    expect(await sink.deliver([testEvent(1)])).toMatchObject([
      { kind: 'refused', response: expect.stringContaining('HTTP 401') },
    ]);
  });

  it('goes on when a sender hangs up in the middle', async () => {
    await start({ WEBHOOK_SECRET: SECRET });
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nabc');
    const closed = once(socket, 'close');
    socket.destroySoon();
    await closed;
    expect(await sink.deliver([testEvent(1)])).toEqual([]);
    expect(child.exitCode).toBeNull();
  });

  it('answers 500 when it is told to', async () => {
    await start({ WEBHOOK_SECRET: SECRET, ANSWER: '500' });
    expect(await sink.deliver([testEvent(1)])).toMatchObject([{ kind: 'away' }]);
  });
});
