import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Block, BlockReader } from '../../src/client/server-sent.js';
import { type Engine, openInline } from '../../src/compose.js';
import { configWith, outboxOf, silent } from '../support/fleet.js';
import { startTestServer, type TestServer } from '../support/http.js';

let engine: Engine;
let server: TestServer;
const ends: (() => void)[] = [];

async function open(settings: Record<string, unknown> = {}): Promise<void> {
  engine = openInline(configWith({ http: { rate: 100_000, ...settings } }), silent);
  server = await startTestServer(engine);
}

afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await server.close();
  await engine.close();
});

const create = (plan: string) =>
  server.deps.plans.run({ type: 'create', plan, resources: ['r/x'], actor: 'test' });

/** A stream, and what has come of it so far. */
async function follow(query: string, headers: Record<string, string> = {}) {
  const controller = new AbortController();
  ends.push(() => controller.abort());
  const response = await fetch(`${server.url}/v1/events${query}`, {
    headers: { authorization: `Bearer ${server.tokens.read}`, accept: 'text/event-stream', ...headers },
    signal: controller.signal,
  });
  const blocks: Block[] = [];
  const texts: string[] = [];
  const ended = (async () => {
    const reader = new BlockReader();
    for await (const bytes of response.body ?? []) {
      const text = Buffer.from(bytes).toString('utf8');
      texts.push(text);
      blocks.push(...reader.push(text));
    }
  })().catch(() => {});
  const events = () => blocks.filter(({ data }) => data !== undefined);
  return { response, blocks, events, ended, text: () => texts.join(''), stop: () => controller.abort() };
}

interface PageBody {
  events: { id: string }[];
  cursor: string;
  more: boolean;
  problems: unknown[];
}

const pageOf = async (query: string) => {
  const response = await server.ask('GET', `/v1/events${query}`, { headers: { accept: 'application/json' } });
  return { status: response.status, body: (await response.json()) as PageBody };
};

describe('a stream of events', () => {
  it('carries each CloudEvent byte for byte, with its position and short name', async () => {
    await open();
    await create('first');
    const stream = await follow('?from=oldest');
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    await create('second');
    await expect.poll(() => stream.events().length).toBe(2);
    const stored = await engine.store.outbox.events('', 10, 0);
    expect(stream.events()).toEqual(
      stored.map(({ position, event }) => ({ id: position, event: 'plan.phase.changed', data: event.json })),
    );
  });

  it('begins now unless it is told otherwise, and tells its place at once', async () => {
    await open();
    await create('before');
    const stream = await follow('');
    await expect.poll(() => stream.blocks.length).toBe(1);
    expect(stream.blocks[0]).toEqual({ retry: 1000, id: await engine.store.outbox.lastEvent() });
    await create('after');
    await expect.poll(() => stream.events().length).toBe(1);
    expect(stream.events()[0]?.data).toContain('"after"');
  });

  it('goes on behind Last-Event-ID, and a broken one is a problem', async () => {
    await open();
    await create('one');
    await create('two');
    const [first] = await engine.store.outbox.events('', 1, 0);
    const stream = await follow('', { 'last-event-id': first?.position ?? '' });
    await expect.poll(() => stream.events().length).toBe(1);
    expect(stream.events()[0]?.data).toContain('"two"');
    const refused = await follow('', { 'last-event-id': 'yesterday' });
    expect(refused.response.status).toBe(400);
    await refused.ended;
    expect(JSON.parse(refused.text())).toMatchObject({
      code: 'INVALID_REQUEST',
      problems: [{ path: 'Last-Event-ID', found: '"yesterday"' }],
    });
  });

  it('says that events are kept no more, and goes on with what is', async () => {
    await open();
    for (const plan of ['a', 'b', 'c']) await create(plan);
    const [first, , third] = await engine.store.outbox.events('', 3, 0);
    await engine.store.outbox.trim(engine.clock.now(), 60_000, 1);
    const stream = await follow('', { 'last-event-id': first?.position ?? '' });
    await expect.poll(() => stream.events().length).toBe(2);
    expect(stream.events()).toMatchObject([
      { event: 'sluice.gap', data: JSON.stringify({ after: first?.position, from: third?.position }) },
      { id: third?.position },
    ]);
  });

  it('of another outbox begins with everything that is kept', async () => {
    await open();
    await create('a');
    const stream = await follow('', { 'last-event-id': '99999-0' });
    await expect.poll(() => stream.events().length).toBe(2);
    expect(stream.events().map(({ event }) => event)).toEqual(['sluice.gap', 'plan.phase.changed']);
  });

  it('has only what is asked for', async () => {
    await open();
    const [plan, type, none] = await Promise.all([
      follow('?from=oldest&plan=wanted'),
      follow('?from=oldest&type=plan.cancelled,batch.*'),
      follow('?from=oldest&evaluation=nobody'),
    ]);
    await create('other');
    await create('wanted');
    await server.deps.plans.run({ type: 'cancel', plan: 'other', actor: 'test' });
    await expect.poll(() => plan.events().length).toBe(1);
    await expect.poll(() => type.events().map(({ event }) => event)).toEqual(['plan.cancelled']);
    expect(plan.events()[0]?.data).toContain('"wanted"');
    expect(none.events()).toEqual([]);
    const { status, body } = await pageOf('?type=plan.canceled');
    expect(status).toBe(400);
    expect(body.problems[0]).toMatchObject({ path: 'type[0]', nearest: 'plan.cancelled' });
  });

  it('is refused when all are taken, and there is room again when one ends', async () => {
    await open({ streams: 1 });
    const first = await follow('');
    const second = await follow('');
    expect(second.response.status).toBe(503);
    expect(second.response.headers.get('retry-after')).not.toBeNull();
    first.stop();
    await expect
      .poll(async () => {
        const again = await follow('');
        if (again.response.status !== 200) return again.response.status;
        again.stop();
        return 200;
      })
      .toBe(200);
  });

  it('ends with a comment when the server drains', async () => {
    await open();
    const stream = await follow('');
    await expect.poll(() => stream.blocks.length).toBe(1);
    const begun = performance.now();
    await server.close();
    expect(performance.now() - begun).toBeLessThan(3000);
    await stream.ended;
    expect(stream.text()).toContain(': the server stops');
  });

  it('a client that hangs up leaves nothing behind', async () => {
    await open({ streams: 3 });
    const sockets: Socket[] = [];
    for (let n = 0; n < 3; n += 1) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
      sockets.push(socket);
      socket.write(
        `GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.tokens.read}\r\naccept: text/event-stream\r\n\r\n`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
    }
    for (const socket of sockets) socket.resetAndDestroy();
    await expect.poll(async () => (await follow('')).response.status, { timeout: 5000 }).toBe(200);
  });
});

describe('pages of events', () => {
  it('go through everything by their cursors, whatever the filter passes over', async () => {
    await open();
    for (let n = 0; n < 7; n += 1) await create(`plan-${n}`);
    await server.deps.plans.run({ type: 'cancel', plan: 'plan-3', actor: 'test' });
    const seen: string[] = [];
    let cursor = '0-0';
    for (let more = true; more; ) {
      const { body } = await pageOf(`?limit=3&cursor=${cursor}`);
      seen.push(...body.events.map(({ id }) => id));
      ({ cursor, more } = body);
    }
    expect(seen).toEqual((await outboxOf(engine.store)).map(({ id }) => id));
    const cancelled = await pageOf('?type=plan.cancelled&limit=5');
    expect(cancelled.body.events).toHaveLength(1);
    expect(cancelled.body).toMatchObject({ more: false, gap: false });
    expect((await pageOf(`?cursor=${cursor}`)).body).toEqual({ events: [], cursor, more: false, gap: false });
  });

  it('say where an empty outbox begins', async () => {
    await open();
    expect((await pageOf('')).body).toEqual({ events: [], cursor: '0-0', more: false, gap: false });
  });
});
