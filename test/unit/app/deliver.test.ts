import { afterEach, describe, expect, it, vi } from 'vitest';
import { deliveryTo, type SinkReader } from '../../../src/app/deliver.js';
import { forgetSink } from '../../../src/app/forget-sink.js';
import type { OutboxEvent } from '../../../src/core/events.js';
import type { SinkState } from '../../../src/ports/dead-letters.js';
import type { DeliveryStep, DeliveryTask, Pace } from '../../../src/ports/delivery.js';
import type { DeliveryFailure, OutgoingEvent } from '../../../src/ports/sink.js';
import { openMemoryStore } from '../../../src/store/memory/index.js';
import { chunkOf, event, openingOf } from '../../support/evidence.js';
import { FakeSink, isAway, isGone, readerOf, refuses } from '../../support/sinks.js';

const HOUR = 3_600_000;
const CLAIM = { waitMs: 1, leadMs: 60_000, idle: true };
const atOnce: Pace = async () => true;
const never = new AbortController().signal;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  vi.useRealTimers();
});

const subjected = (id: string, subject: string, type = 'dev.sluice.test.made.v1'): OutboxEvent => ({
  id,
  type,
  json: JSON.stringify({ id, type, subject }),
});

/** A reader over a store in memory with these events, all claimed; the clock stands where it is put. */
async function scene(sink: FakeSink, events: readonly OutboxEvent[], more: Partial<SinkReader> = {}) {
  const store = openMemoryStore({ outboxCap: 1000 });
  await store.batches.openBatch(openingOf('b', []));
  await store.outbox.openReader('r', '');
  const add = async (name: string, added: readonly OutboxEvent[]) => {
    await store.evaluations.accept(chunkOf('b', name, 1), [], added, 0, 0);
  };
  await add('c', events);
  const time = { now: Date.now() };
  const states: SinkState[] = [];
  const { outbox, letters, sinks } = store;
  const clock = { now: () => time.now };
  const onState = (state: SinkState) => states.push(state);
  const deps = { outbox, letters, sinks, clock, fleet: 'f', onState, random: () => 0.5 };
  const delivery = deliveryTo(deps, readerOf('r', sink, { longestWaitMs: 60_000, ...more }));
  closing.push(() => delivery.close());
  const claimed: string[][] = [];
  const claim = (settings = CLAIM) =>
    delivery.claim('one', settings, async (pages) => {
      claimed.push(...pages.map(({ positions }) => positions));
    });
  const deliver = (task: DeliveryTask) => delivery.deliver(task, never, atOnce);
  const first = async () => {
    await claim();
    return { positions: claimed.flat() };
  };
  const written = async () =>
    (await outbox.events('', 1000, 0)).map(({ event: { json } }) => JSON.parse(json));
  const dead = async () => (await letters.list({}, '', 1000)).letters;
  return { store, add, time, states, delivery, claim, claimed, deliver, first, written, dead };
}

const tasksOf = (step: DeliveryStep) => (step.kind === 'again' ? step.tasks : []);
const idsOf = (events: readonly { id: string }[]) => events.map(({ id }) => id);

describe('one delivery', () => {
  it('lets go of what arrived and keeps what was refused, with its tries and the longest wait asked for', async () => {
    const waits = new Map([
      ['a', 10_000],
      ['c', 30_000],
    ]);
    const sink = new FakeSink((_, { id }) => {
      const retryAfterMs = waits.get(id);
      return retryAfterMs === undefined ? undefined : { ...refuses, retryAfterMs };
    });
    const { first, deliver, store } = await scene(sink, [event('a'), event('b'), event('c')]);
    const { positions } = await first();
    const [a = '', , c = ''] = positions;
    expect(await deliver({ positions })).toEqual({
      kind: 'again',
      tasks: [{ task: { positions: [a, c], tries: { [a]: 1, [c]: 1 } }, afterMs: 30_000 }],
    });
    expect(await store.outbox.outstanding('r')).toBe(2);
  });

  it('waits longer after each try, and gives up after the last with what the sink said', async () => {
    const sink = new FakeSink(() => ({ ...refuses, reason: 'token=abcdef0123456789', response: '500 no' }));
    const { first, deliver, dead, written, store } = await scene(sink, [event('a')]);
    let step = await deliver(await first());
    const waits: number[] = [];
    for (let [next] = tasksOf(step); next !== undefined; [next] = tasksOf(step)) {
      waits.push(next.afterMs);
      step = await deliver(next.task);
    }
    expect(waits).toEqual([750, 1500]);
    expect(step).toEqual({ kind: 'done' });
    const [letter] = await dead();
    expect(letter).toMatchObject({ endpoint: 'r', id: 'a', code: 'refused', response: '500 no', tries: 3 });
    expect(letter?.reason).not.toContain('abcdef');
    expect(letter?.content).toBe(event('a').json);
    expect((await written())[1]).toMatchObject({ type: 'dev.sluice.delivery.dead.v1', subject: 'a' });
    expect(await store.outbox.outstanding('r')).toBeGreaterThan(0);
  });

  it('gives up at once what is refused for good, and what its projection fails on', async () => {
    const sink = new FakeSink((_, { id }) => (id === 'bad' ? { ...refuses, final: true } : undefined));
    const project = async ({ id }: OutboxEvent) => {
      if (id === 'none') return undefined;
      if (id === 'broken') throw new Error('no such field');
      return `{"only":"${id}"}`;
    };
    const events = ['good', 'bad', 'none', 'broken'].map((id) => event(id));
    const { first, deliver, dead } = await scene(sink, events, { project });
    expect(await deliver(await first())).toEqual({ kind: 'done' });
    expect((await dead()).map(({ id, code, tries }) => [id, code, tries])).toEqual([
      ['bad', 'refused', 1],
      ['broken', 'projection', 1],
    ]);
    expect(sink.took.map(({ id, projected }) => [id, projected])).toEqual([['good', '{"only":"good"}']]);
    expect(sink.calls).toEqual([['good', 'bad']]);
  });

  it('projects no more once delivery ends, and keeps all of it', async () => {
    const ending = new AbortController();
    const projected: string[] = [];
    const project = async ({ id }: OutboxEvent) => {
      projected.push(id);
      ending.abort();
      throw new Error('no such field');
    };
    const sink = new FakeSink();
    const { first, delivery, dead } = await scene(sink, [event('a'), event('b'), event('c')], { project });
    const task = await first();
    expect(await delivery.deliver(task, ending.signal, atOnce)).toMatchObject({ kind: 'stopped', task });
    expect(projected).toEqual(['a']);
    expect(await dead()).toEqual([]);
  });

  it('writes no notice of a notice', async () => {
    const sink = new FakeSink(() => ({ ...refuses, final: true }));
    const { first, deliver, dead, written } = await scene(sink, [event('n', 'dev.sluice.delivery.dead.v1')]);
    await deliver(await first());
    expect(idsOf(await dead())).toEqual(['n']);
    expect(await written()).toHaveLength(1);
  });

  it('takes a sink that throws for one that is away', async () => {
    const sink = new FakeSink();
    sink.deliver = () => Promise.reject(new Error('down'));
    const { first, deliver, states } = await scene(sink, [event('a')]);
    expect(tasksOf(await deliver(await first()))).toHaveLength(1);
    expect(states).toMatchObject([{ state: 'away', reason: 'down' }]);
  });

  it('takes a sink that never answers for one that is away', async () => {
    vi.useFakeTimers();
    const sink = new FakeSink();
    let told: AbortSignal | undefined;
    sink.deliver = (_events: readonly OutgoingEvent[], signal?: AbortSignal) => {
      told = signal;
      return new Promise<DeliveryFailure[]>(() => {});
    };
    const { first, deliver, states } = await scene(sink, [event('a')]);
    const claimed = first();
    await vi.advanceTimersByTimeAsync(10);
    const step = deliver(await claimed);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(tasksOf(await step)).toHaveLength(1);
    expect(told?.aborted).toBe(true);
    expect(states).toMatchObject([{ state: 'away', reason: 'it did not answer in time' }]);
  });
});

describe('a sink that is away', () => {
  it('uses up no tries, and is tried by one event, then by more, once it may be', async () => {
    const sink = new FakeSink((call) => (call <= 2 ? isAway : undefined));
    const events = ['a', 'b', 'c', 'd'].map((id) => event(id));
    const { first, deliver, time, states, store } = await scene(sink, events);
    let [next] = tasksOf(await deliver(await first()));
    for (let n = 0; n < 2; n++) {
      expect(next?.task.tries).toBeUndefined();
      time.now += 10_000;
      [next] = tasksOf(await deliver(next?.task as DeliveryTask));
    }
    expect(next).toBeUndefined();
    // The one it failed on goes last.
    expect(sink.calls).toEqual([['a', 'b', 'c', 'd'], ['b'], ['c'], ['d', 'a'], ['b']]);
    expect(states.map(({ state }) => state)).toEqual(['away', 'delivering']);
    expect(await store.outbox.outstanding('r')).toBe(0);
  });

  it('has its oldest events set aside when they have waited too long, without a try of each', async () => {
    const sink = new FakeSink(() => ({ ...isAway, response: '503 later' }));
    const { first, deliver, add, claim, claimed, time, dead } = await scene(sink, [event('a'), event('b')]);
    const [next] = tasksOf(await deliver(await first()));
    time.now += 2 * HOUR;
    const [again] = tasksOf(await deliver(next?.task as DeliveryTask));
    expect(sink.calls).toHaveLength(2);
    expect(await deliver(again?.task as DeliveryTask)).toEqual({ kind: 'done' });
    expect(sink.calls).toHaveLength(2);
    expect(
      (await dead()).map(({ id, code, reason, response, tries }) => [id, code, reason, response, tries]),
    ).toEqual([
      ['a', 'away', 'nobody there', '503 later', 0],
      ['b', 'away', 'nobody there', '503 later', 0],
    ]);
    // Nothing new is claimed while something waits, but what is overdue.
    await add('d', [event('new')]);
    claimed.length = 0;
    await claim({ ...CLAIM, idle: false });
    expect(claimed).toHaveLength(1);
  });

  it('is not asked for more than one page that waits', async () => {
    const sink = new FakeSink(() => isAway);
    const { first, deliver, add, claim, claimed } = await scene(sink, [event('a')]);
    await deliver(await first());
    await add('d', [event('new')]);
    claimed.length = 0;
    expect(await claim({ ...CLAIM, idle: false })).toBe(0);
    expect(await claim()).toBe(1);
  });

  it('is not taken for away because of one event that it always fails on', async () => {
    const sink = new FakeSink((_, { id }) => (id === 'poison' ? isAway : undefined));
    const { first, deliver, add, claim, claimed, time, dead, states } = await scene(sink, [event('poison')]);
    const [poison] = tasksOf(await deliver(await first()));
    await add('d', [event('b')]);
    claimed.length = 0;
    await claim();
    time.now += 60_000;
    expect(await deliver({ positions: claimed.flat() })).toEqual({ kind: 'done' });
    let [next] = [poison];
    for (let n = 1; n <= 3; n++) {
      time.now += 1;
      [next] = tasksOf(await deliver(next?.task as DeliveryTask));
    }
    expect(states.map(({ state }) => state)).toEqual(['away', 'delivering']);
    expect(await dead()).toMatchObject([{ id: 'poison', code: 'refused', reason: 'nobody there', tries: 3 }]);
  });

  it('holds a delivery until its pause is over, or until delivery ends', async () => {
    const sink = new FakeSink((call) => (call === 1 ? isAway : undefined));
    const { first, deliver, delivery } = await scene(sink, [event('a')]);
    const [next] = tasksOf(await deliver(await first()));
    const held = deliver(next?.task as DeliveryTask);
    await delivery.stop('one');
    expect(await held).toEqual({ kind: 'stopped', task: next?.task });
  });
});

describe('a sink that is gone', () => {
  it('is disabled with an event, tried no more, and keeps what waits until it is too old', async () => {
    const sink = new FakeSink(() => isGone);
    const { first, deliver, claim, claimed, time, dead, states, written, store } = await scene(sink, [
      event('a'),
    ]);
    const [next] = tasksOf(await deliver(await first()));
    expect(states).toMatchObject([{ state: 'disabled', reason: '410 Gone' }]);
    await expect
      .poll(async () => (await written()).at(-1))
      .toMatchObject({
        type: 'dev.sluice.delivery.disabled.v1',
        data: { sink: 'r', reason: '410 Gone' },
      });
    expect(await store.sinks.get('r')).toMatchObject({ state: 'disabled', nextTry: null });
    expect(await claim()).toBe(0);
    time.now += 2 * HOUR;
    expect(await deliver(next?.task as DeliveryTask)).toEqual({ kind: 'done' });
    expect(sink.calls).toHaveLength(1);
    expect(await dead()).toMatchObject([{ id: 'a', code: 'gone' }]);
    // What is told of it is not for itself.
    claimed.length = 0;
    await claim();
    const told = await store.outbox.eventsAt(claimed.flat());
    expect(told.map(({ event: { type } }) => type)).not.toContain('dev.sluice.delivery.disabled.v1');
  });

  it('is tried again once it is enabled', async () => {
    const sink = new FakeSink((call) => (call === 1 ? isGone : undefined));
    const { first, deliver, store, states, time } = await scene(sink, [event('a')]);
    const [next] = tasksOf(await deliver(await first()));
    await expect.poll(async () => (await store.sinks.get('r'))?.state).toBe('disabled');
    const held = deliver(next?.task as DeliveryTask);
    const noted = (await store.sinks.get('r')) as SinkState;
    await store.sinks.note({ ...noted, state: 'delivering', reason: null, since: time.now });
    expect(await held).toEqual({ kind: 'done' });
    expect(states.map(({ state }) => state)).toEqual(['disabled', 'delivering']);
  });
});

describe('a sink that is forgotten while it is delivered to', () => {
  it('is noted again, so that it can be seen and forgotten once more', async () => {
    const { store } = await scene(new FakeSink(), []);
    const state = async () => (await store.sinks.get('r'))?.state;
    await expect.poll(state).toBe('delivering');
    await forgetSink(store, 'r', { discard: false });
    expect(await state()).toBeUndefined();
    await expect.poll(state, { timeout: 5000 }).toBe('delivering');
  });

  it('can be forgotten when all that is left of it is what waits', async () => {
    const store = openMemoryStore({ outboxCap: 1000 });
    await store.batches.openBatch(openingOf('b', []));
    await store.outbox.openReader('ghost', '');
    await store.evaluations.accept(chunkOf('b', 'c', 1), [], [event('a')], 0, 0);
    await expect(forgetSink(store, 'ghost', { discard: false })).rejects.toMatchObject({ code: 'IN_USE' });
    expect((await forgetSink(store, 'ghost', { discard: true })).waiting).toBeGreaterThan(0);
    await expect(forgetSink(store, 'ghost', { discard: true })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a sink that keeps order', () => {
  const order = { order: 'subject' as const };
  const events = [subjected('a1', 'A'), subjected('b1', 'B'), subjected('a2', 'A'), subjected('b2', 'B')];

  it('gets the second event of a subject only after the first', async () => {
    const sink = new FakeSink((call, { id }) => (call === 1 && id === 'a1' ? refuses : undefined));
    const { first, deliver, store } = await scene(sink, events, order);
    const page = await first();
    const entries = await store.outbox.eventsAt(page.positions);
    const positions = entries.map(({ position }) => position);
    const [next] = tasksOf(await deliver({ positions }));
    expect(idsOf(sink.took)).toEqual(['b1', 'b2']);
    expect(next?.task.positions).toEqual([positions[0], positions[2]]);
    expect(await deliver(next?.task as DeliveryTask)).toEqual({ kind: 'done' });
    expect(idsOf(sink.took)).toEqual(['b1', 'b2', 'a1', 'a2']);
  });

  it('goes on with a subject after one of its events became a dead letter', async () => {
    const sink = new FakeSink((_, { id }) => (id === 'a1' ? { ...refuses, final: true } : undefined));
    const { first, deliver } = await scene(sink, events, order);
    expect(await deliver({ positions: (await first()).positions.sort() })).toEqual({ kind: 'done' });
    expect(idsOf(sink.took)).toEqual(['b1', 'a2', 'b2']);
  });

  it('tries another subject first after it was away', async () => {
    const sink = new FakeSink((call) => (call === 1 ? isAway : undefined));
    const { first, deliver, time } = await scene(sink, events, order);
    const [next] = tasksOf(await deliver({ positions: (await first()).positions.sort() }));
    time.now += 60_000;
    expect(await deliver(next?.task as DeliveryTask)).toEqual({ kind: 'done' });
    expect(idsOf(sink.took)).toEqual(['b1', 'a1', 'b2', 'a2']);
  });
});

describe('dead letters', () => {
  it('that are delivered again are letters no more when they arrive, and redriven once more when not', async () => {
    const sink = new FakeSink((call, { id }) =>
      call === 1 || id === 'b' ? { ...refuses, final: true, reason: `no ${call}` } : undefined,
    );
    const { first, deliver, delivery, dead, written } = await scene(sink, [event('a'), event('b')]);
    await deliver(await first());
    const before = (await written()).length;
    expect(await delivery.redeliver(['a', 'b', 'nobody'], never, atOnce)).toBe(true);
    expect(await dead()).toMatchObject([{ id: 'b', reason: 'no 2', redriven: 1, tries: 2 }]);
    expect(await written()).toHaveLength(before);
  });

  it('of a sink that is away are put back at once', async () => {
    const sink = new FakeSink((call) => (call === 1 ? { ...refuses, final: true } : isAway));
    const { first, deliver, delivery, add, claim, claimed, dead } = await scene(sink, [event('a')]);
    await deliver(await first());
    await add('d', [event('b')]);
    claimed.length = 0;
    await claim();
    await deliver({ positions: claimed.flat() });
    expect(await delivery.redeliver(['a'], never, atOnce)).toBe(true);
    expect(sink.calls).toHaveLength(2);
    expect(await dead()).toMatchObject([{ id: 'a', code: 'away', reason: 'nobody there', redriven: 1 }]);
  });
});
