import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryQueue, queuePrefix } from '../../queues/names.js';
import { openRedriver } from '../../queues/redrive.js';
import type { SinkReader } from '../../src/app/deliver.js';
import type { SinkState } from '../../src/ports/dead-letters.js';
import type { DeliveryFailure, OutgoingEvent } from '../../src/ports/sink.js';
import { startDispatcher } from '../../workers/dispatcher.js';
import type { Role } from '../../workers/lifecycle.js';
import { configWith, judgeBatch, openTestFleet, type TestFleet } from '../support/fleet.js';
import { mixed, mixedRuns } from '../support/mixed-batch.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { emitTo, eventsOf, FakeSink, isAway, isGone, readerOf, refuses } from '../support/sinks.js';

const SETTINGS = {
  worker: { lock: '1500ms', stalled_interval: '300ms', drain: '2s' },
  patterns: { deadline: '100ms' },
};
const COMFORT = { timeout: 30_000, interval: 50 };

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

interface Scene {
  fleet: TestFleet;
  start(...readers: SinkReader[]): Promise<Role>;
  emit(events: ReturnType<typeof eventsOf>, more?: { at?: number }): Promise<void>;
  outstanding(reader: string): Promise<number>;
  stateOf(reader: string): Promise<SinkState | undefined>;
}

/** A fleet of its own; dispatchers that still run at the end are stopped. */
async function scene(work: (scene: Scene) => Promise<void>, roles: ('worker' | 'aggregator')[] = []) {
  const fleet = await openTestFleet(redis.url, configWith(SETTINGS), roles);
  const started: Role[] = [];
  try {
    await work({
      fleet,
      async start(...readers) {
        for (const { name } of readers) await fleet.engine.store.outbox.openReader(name, '');
        const role = await startDispatcher(fleet.engine, readers);
        started.push(role);
        return role;
      },
      emit: (events, more) => emitTo(redis.url, fleet.engine.config.fleet, events, more),
      outstanding: (reader) => fleet.engine.store.outbox.outstanding(reader),
      stateOf: (reader) => fleet.engine.store.sinks.get(reader),
    });
  } finally {
    await Promise.all(started.map((role) => role.stop()));
    await fleet.close();
  }
}

const idsOf = (events: readonly { id: string }[]) => [...new Set(events.map(({ id }) => id))].sort();

describe('a sink that is away', () => {
  it('is paused, keeps the rest in the outbox, and gets everything once it is back, over restarts', async () => {
    let up = false;
    const sink = new FakeSink(() => (up ? undefined : isAway));
    const events = eventsOf(100, 60);
    await scene(async ({ fleet, start, emit, outstanding, stateOf }) => {
      const { outbox, letters } = fleet.engine.store;
      const reader = readerOf('r', sink, { tries: 1 });
      const first = await start(reader);
      await emit(events);
      await expect.poll(() => stateOf('r'), COMFORT).toMatchObject({ state: 'away', reason: 'nobody there' });
      await expect.poll(() => sink.calls.length, COMFORT).toBeGreaterThan(5);
      // Most of it was never claimed.
      expect(await outbox.waitingSince('r')).toBeDefined();
      const began = Date.now();
      await first.stop();
      expect(Date.now() - began).toBeLessThan(5000);
      expect((await stateOf('r'))?.state).toBe('away');
      const calls = sink.calls.length;
      await start(reader);
      // It is tried at once, with one event.
      await expect.poll(() => sink.calls.length, COMFORT).toBeGreaterThan(calls);
      expect(sink.calls[calls]).toHaveLength(1);
      expect(await outbox.trim(Date.now() + 60_000, 0, 0)).toBe(0);
      up = true;
      await expect.poll(() => outstanding('r'), COMFORT).toBe(0);
      expect(idsOf(sink.took)).toEqual(idsOf(events));
      await expect.poll(() => stateOf('r'), COMFORT).toMatchObject({ state: 'delivering', nextTry: null });
      expect(await letters.counts()).toEqual([]);
    });
  });

  it('has what waited too long set aside quickly, whether it was claimed or not, and keeps the rest', async () => {
    const sink = new FakeSink(() => isAway);
    const [old, fresh] = [
      eventsOf(100, 30),
      eventsOf(1, 5).map((event) => ({ ...event, id: `new-${event.id}` })),
    ];
    await scene(async ({ fleet, start, emit }) => {
      const { letters } = fleet.engine.store;
      await emit(old, { at: Date.now() - 7_200_000 });
      await emit(fresh.map((event) => ({ ...event, json: event.json.replace('"s0-', '"new-s0-') })));
      await start(readerOf('r', sink));
      const count = async () => (await letters.counts())[0]?.count;
      await expect.poll(count, COMFORT).toBe(old.length);
      const { letters: found } = await letters.list({ endpoint: 'r' }, '', 5000);
      for (const letter of found) expect(letter).toMatchObject({ code: 'away', reason: 'nobody there' });
      expect(sink.calls.length).toBeLessThan(100);
    });
  });

  it('is not held to be away by one event that it always fails on', async () => {
    const sink = new FakeSink((_, { id }) => (id === 's5-0' ? isAway : undefined));
    const events = eventsOf(50, 1);
    await scene(async ({ fleet, start, emit, outstanding }) => {
      await emit(events);
      await start(readerOf('r', sink, { batch: 10 }));
      await expect.poll(() => sink.took.length, COMFORT).toBeGreaterThanOrEqual(49);
      await emit(eventsOf(70, 1).slice(50));
      await expect.poll(() => outstanding('r'), { timeout: 30_000, interval: 50 }).toBe(0);
      const { letters } = await fleet.engine.store.letters.list({}, '', 10);
      expect(letters).toMatchObject([{ id: 's5-0', code: 'refused', reason: 'nobody there' }]);
    });
  });
});

describe('a sink that is gone', () => {
  it('is disabled, others hear of it, and it gets everything once it is enabled', async () => {
    let up = false;
    const sink = new FakeSink(() => (up ? undefined : isGone));
    const good = new FakeSink();
    const events = eventsOf(100, 3);
    await scene(async ({ fleet, start, emit, outstanding, stateOf }) => {
      await start(readerOf('r', sink), readerOf('good', good));
      await emit(events);
      await expect.poll(() => stateOf('r'), COMFORT).toMatchObject({ state: 'disabled', reason: '410 Gone' });
      const type = 'dev.sluice.delivery.disabled.v1';
      await expect.poll(() => good.took.filter((event) => event.type === type).length, COMFORT).toBe(1);
      const calls = sink.calls.length;
      up = true;
      const state = (await stateOf('r')) as SinkState;
      await fleet.engine.store.sinks.note({ ...state, state: 'delivering', reason: null, since: Date.now() });
      await expect.poll(() => outstanding('r'), COMFORT).toBe(0);
      expect(sink.calls.length).toBeGreaterThan(calls);
      expect(idsOf(sink.took)).toEqual(idsOf(events));
    });
  });
});

describe('a sink that hangs, and one that is dead', () => {
  it('slow neither decisions nor other sinks', async () => {
    const hanging = new FakeSink();
    let ended = 0;
    hanging.deliver = (_events: readonly OutgoingEvent[], signal?: AbortSignal) =>
      new Promise<DeliveryFailure[]>((resolve) => {
        signal?.addEventListener('abort', () => {
          ended += 1;
          resolve([]);
        });
      });
    const dead = new FakeSink(() => isAway);
    const good = new FakeSink();
    await scene(
      async ({ fleet, start, outstanding, stateOf }) => {
        await start(readerOf('hanging', hanging), readerOf('dead', dead), readerOf('good', good));
        const batch = await judgeBatch(
          fleet.engine,
          { id: 'b', scenarios: [mixed], submissions: mixedRuns(30) },
          {},
        );
        expect(batch).toMatchObject({ state: 'completed', decided: 30 });
        await expect.poll(() => outstanding('good'), COMFORT).toBe(0);
        expect(good.took.some(({ type }) => type.includes('batch.completed'))).toBe(true);
        expect(await outstanding('hanging')).toBeGreaterThan(0);
        expect(await stateOf('dead')).toMatchObject({ state: 'away' });
        expect(ended).toBe(0);
      },
      ['worker', 'aggregator'],
    );
    // What it had in hand was cut off when the dispatcher was stopped.
    expect(ended).toBe(1);
  });
});

describe('a slow sink', () => {
  it('has no more claimed for it than it will soon get', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sink = new FakeSink();
    const took = sink.deliver.bind(sink);
    sink.deliver = async (events) => {
      await gate;
      return took(events);
    };
    const events = eventsOf(100, 100);
    await scene(async ({ fleet, start, emit, outstanding }) => {
      const queue = new Queue(deliveryQueue('r'), {
        connection: new Redis(redis.url, { maxRetriesPerRequest: null }),
        prefix: queuePrefix(fleet.engine.config.fleet),
      });
      await emit(events);
      await start(readerOf('r', sink, { batch: 50 }));
      await expect.poll(() => queue.getWaitingCount(), COMFORT).toBeGreaterThanOrEqual(20);
      const most = await queue.getWaitingCount();
      expect(most).toBeLessThan(30);
      expect(await fleet.engine.store.outbox.waitingSince('r')).toBeDefined();
      release();
      await expect.poll(() => outstanding('r'), COMFORT).toBe(0);
      expect(idsOf(sink.took)).toEqual(idsOf(events));
      const { connection } = queue.opts;
      await queue.close();
      (connection as Redis).disconnect();
    });
  });
});

describe('a rate', () => {
  it('holds over all dispatchers together', async () => {
    const at: number[] = [];
    const sink = new FakeSink();
    const took = sink.deliver.bind(sink);
    sink.deliver = async (events) => {
      for (const _ of events) at.push(Date.now());
      return took(events);
    };
    await scene(async ({ start, emit, outstanding }) => {
      const reader = readerOf('r', sink, { rate: 20, concurrency: 3 });
      await Promise.all([start(reader), start(reader)]);
      await emit(eventsOf(100, 1));
      await expect.poll(() => outstanding('r'), COMFORT).toBe(0);
      expect(idsOf(sink.took)).toHaveLength(100);
      // 100 events in pages of 20, one page a second: the last one goes four seconds after the first.
      expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeGreaterThan(3800);
    });
  });
});

describe('redriving', () => {
  it('delivers letters through the dispatcher, each once, at its rate; what fails again is kept', async () => {
    let up = false;
    const sink = new FakeSink((_, { id }) => (up && id !== 's3-0' ? undefined : { ...refuses, final: true }));
    const events = eventsOf(10, 1);
    await scene(async ({ fleet, start, emit, outstanding }) => {
      const { letters } = fleet.engine.store;
      await start(readerOf('r', sink, { wants: ({ type }) => type.includes('test.made') }));
      await emit(events);
      await expect.poll(async () => (await letters.counts())[0]?.count, COMFORT).toBe(10);
      await expect.poll(() => outstanding('r'), COMFORT).toBe(0);
      up = true;
      const before = sink.calls.length;
      const place = { url: redis.url, fleet: fleet.engine.config.fleet };
      const redriver = openRedriver(place, () => {});
      const began = Date.now();
      const ids = events.map(({ id }) => id);
      await redriver.enqueue('r', ids, 10);
      await redriver.enqueue('r', ids, 1000);
      await expect
        .poll(async () => (await letters.list({}, '', 100)).letters, COMFORT)
        .toMatchObject([{ id: 's3-0', redriven: 1, tries: 2 }]);
      await expect.poll(() => sink.calls.length - before, COMFORT).toBe(10);
      expect(Date.now() - began).toBeGreaterThan(850);
      expect(idsOf(sink.took)).toEqual(idsOf(events.filter(({ id }) => id !== 's3-0')));
      await redriver.close();
    });
  });
});

describe('dispatchers', () => {
  it('refuse two sinks of one name', async () => {
    await scene(async ({ fleet }) => {
      const readers = [readerOf('r', new FakeSink()), readerOf('r', new FakeSink())];
      expect(() => startDispatcher(fleet.engine, readers)).toThrow(/same name/);
    });
  });
});
