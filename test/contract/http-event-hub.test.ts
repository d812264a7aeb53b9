import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { BlockReader } from '../../src/client/server-sent.js';
import { makeEvent, type OutboxEvent } from '../../src/core/events.js';
import { compareIds } from '../../src/core/positions.js';
import { EventHub } from '../../src/http/event-hub.js';
import { eventStream, type StreamSettings } from '../../src/http/event-stream.js';
import type { Outbox } from '../../src/ports/store.js';
import { openMemoryStore } from '../../src/store/memory/index.js';

const store = () => openMemoryStore({ outboxCap: Number.POSITIVE_INFINITY });
type TestStore = ReturnType<typeof store>;

const eventOf = (n: number, size: number): OutboxEvent =>
  makeEvent({
    fleet: 'f',
    name: 'delivery.disabled',
    subject: `s${n}`,
    revision: String(n),
    sequence: n,
    time: 0,
    data: { text: 'x'.repeat(size) },
  });

/** Writes events: a change of a sink's state takes any. */
async function write({ sinks }: TestStore, from: number, to: number, size = 10): Promise<void> {
  for (let n = from; n < to; n += 1) {
    const state = n % 2 === 0 ? 'away' : 'delivering';
    const noted = {
      name: 's',
      kind: 'k',
      target: 't',
      state,
      reason: null,
      since: n,
      nextTry: null,
    } as const;
    await sinks.note(noted, eventOf(n, size));
  }
}

/** The outbox, with another way to read it. */
const outboxWith = ({ outbox }: TestStore, events: Outbox['events']): Outbox =>
  ({ events, lastEvent: () => outbox.lastEvent() }) as Outbox;

const SLOW = { heartbeat: 60_000, patience: 60_000, longest: 60_000 };
const ends: AbortController[] = [];

function streamOf(hub: EventHub, more: Partial<StreamSettings> = {}) {
  const controller = new AbortController();
  ends.push(controller);
  const common = {
    hub,
    wants: () => true,
    cursor: '',
    gap: undefined,
    signal: controller.signal,
    times: SLOW,
  };
  return eventStream({ ...common, ...more });
}

/** Ids of the events that a stream brings, as it brings them. */
function read(stream: AsyncIterable<Buffer>): string[] {
  const ids: string[] = [];
  void (async () => {
    const reader = new BlockReader();
    for await (const chunk of stream)
      for (const { data } of reader.push(String(chunk)))
        if (data !== undefined) ids.push((JSON.parse(data) as { id: string }).id);
  })().catch(() => {});
  return ids;
}

async function idsOf({ outbox }: TestStore): Promise<string[]> {
  return (await outbox.events('', 100_000, 0)).map(({ event }) => event.id);
}

afterEach(() => {
  for (const controller of ends.splice(0)) controller.abort();
});

describe('streams of one server', () => {
  it('all bring everything in order, those that begin late included', async () => {
    const own = store();
    const hub = new EventHub(own.outbox, () => {});
    await write(own, 0, 700);
    const early = [read(streamOf(hub)), read(streamOf(hub))];
    await write(own, 700, 1800);
    const late = [read(streamOf(hub)), read(streamOf(hub))];
    await write(own, 1800, 4000);
    const ids = await idsOf(own);
    expect(ids).toHaveLength(4000);
    for (const seen of [...early, ...late]) {
      await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(4000);
      expect(seen).toEqual(ids);
    }
  });

  it('share one reader that waits, which ends with the last of them', async () => {
    const own = store();
    let [waiting, most] = [0, 0];
    const outbox = outboxWith(own, async (cursor, count, waitMs) => {
      if (waitMs > 0) most = Math.max(most, ++waiting);
      const entries = await own.outbox.events(cursor, count, waitMs);
      if (waitMs > 0) waiting -= 1;
      return entries;
    });
    const hub = new EventHub(outbox, () => {});
    const streams = [streamOf(hub), streamOf(hub), streamOf(hub)];
    const seen = streams.map(read);
    await write(own, 0, 50);
    await expect.poll(() => seen.map(({ length }) => length)).toEqual([50, 50, 50]);
    expect(most).toBe(1);
    for (const stream of streams) stream.destroy();
    await expect.poll(() => hub.followers).toBe(0);
    await expect.poll(() => waiting, { timeout: 3000 }).toBe(0);
  });

  it('one that nobody reads is ended, and holds up no other', async () => {
    const own = store();
    const hub = new EventHub(own.outbox, () => {});
    const stuck = streamOf(hub, { times: { ...SLOW, patience: 200 } });
    const ended = new Promise((resolve) => stuck.once('close', resolve));
    stuck.once('readable', () => {});
    const good = streamOf(hub);
    const seen = read(good);
    await write(own, 0, 300, 5000);
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(300);
    await ended;
    expect(stuck.destroyed).toBe(true);
    good.destroy();
    await expect.poll(() => hub.followers).toBe(0);
  });

  it('one that is far behind catches up, whatever is kept in memory meanwhile', async () => {
    const own = store();
    const hub = new EventHub(own.outbox, () => {});
    const other = read(streamOf(hub));
    const slow = streamOf(hub);
    slow.once('readable', () => {});
    // More than is kept for all of them: it has to read pages of its own.
    await write(own, 0, 5000, 2500);
    await expect.poll(() => other.length, { timeout: 20_000 }).toBe(5000);
    const seen = read(slow);
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(5000);
    expect(seen).toEqual(await idsOf(own));
  });

  it('that are behind read few pages at a time, so that others come in between', async () => {
    const own = store();
    await write(own, 0, 1200);
    let [reading, most] = [0, 0];
    const counted: Outbox['events'] = async (after, count, waitMs) => {
      if (waitMs > 0) return own.outbox.events(after, count, waitMs);
      reading += 1;
      most = Math.max(most, reading);
      await delay(2);
      reading -= 1;
      return own.outbox.events(after, count, 0);
    };
    const hub = new EventHub(outboxWith(own, counted), () => {});
    const all = Array.from({ length: 20 }, () => read(streamOf(hub)));
    await expect.poll(() => all.map((ids) => ids.length), { timeout: 10_000 }).toEqual(all.map(() => 1200));
    expect(most).toBe(2);
  });

  it('say where they are while nothing comes, and end after their longest time', async () => {
    const own = store();
    await write(own, 0, 3);
    const hub = new EventHub(own.outbox, () => {});
    const times = { heartbeat: 30, patience: 1000, longest: 120 };
    let text = '';
    for await (const chunk of streamOf(hub, { wants: () => false, times })) text += chunk;
    const position = await own.outbox.lastEvent();
    expect(text).toContain(`: still here\nid: ${position}\n\n`);
    expect(text.endsWith(`: connect again\nid: ${position}\n\n`)).toBe(true);
    expect(text).not.toContain('data:');
  });

  it('end with a comment when the server drains, also one that nobody reads', async () => {
    const own = store();
    const hub = new EventHub(own.outbox, () => {});
    const controller = new AbortController();
    const stuck = streamOf(hub, { signal: controller.signal });
    stuck.once('readable', () => {});
    await write(own, 0, 100, 5000);
    const ended = new Promise((resolve) => stuck.once('close', resolve));
    let text = '';
    const good = (async () => {
      for await (const chunk of streamOf(hub, { signal: controller.signal })) text += chunk;
    })();
    await expect.poll(() => text.length).toBeGreaterThan(500_000);
    controller.abort();
    await good;
    expect(text).toContain(': the server stops');
    await ended;
    await expect.poll(() => hub.followers).toBe(0);
  });

  it('go on after trouble with the outbox, which is told', async () => {
    const own = store();
    let isAway = false;
    const outbox = outboxWith(own, (cursor, count, waitMs) =>
      isAway && waitMs > 0
        ? Promise.reject(new Error('away'))
        : own.outbox.events(cursor, count, Math.min(waitMs, 20)),
    );
    const errors: string[] = [];
    const hub = new EventHub(outbox, ({ message }) => errors.push(message));
    const seen = read(streamOf(hub));
    await write(own, 0, 5);
    await expect.poll(() => seen.length).toBe(5);
    isAway = true;
    await expect.poll(() => errors[0]).toBe('away');
    await write(own, 5, 10);
    isAway = false;
    await expect.poll(() => seen.length, { timeout: 5000 }).toBe(10);
    expect(seen).toEqual(await idsOf(own));
  });
});

describe('positions', () => {
  it.each([
    ['', '0-1', -1],
    ['1-0', '1-0', 0],
    ['2-0', '10-0', -1],
    ['10-2', '10-10', -1],
    ['1700000000001-0', '1700000000000-9', 1],
  ])('%s against %s is %i', (a, b, sign) => {
    expect(Math.sign(compareIds(a, b))).toBe(sign);
    expect(Math.sign(compareIds(b, a))).toBe(sign === 0 ? 0 : -sign);
  });
});
