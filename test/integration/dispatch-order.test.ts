import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LANES, laneOf } from '../../src/core/delivery-order.js';
import { openRedisStore } from '../../src/store/redis/index.js';
import { startDispatcher } from '../../workers/dispatcher.js';
import { configWith, openTestFleet } from '../support/fleet.js';
import { bundledProgram } from '../support/program.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { emitTo, eventsOf, FakeSink, readerOf, refuses } from '../support/sinks.js';

const SETTINGS = { worker: { lock: '1500ms', stalled_interval: '300ms' } };
const COMFORT = { timeout: 60_000, interval: 100 };

let redis: TestRedis;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  redis = await startTestRedis();
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});
afterAll(() => redis.stop());

async function startProcess(fleet: string, list: string): Promise<ChildProcess> {
  const script = await bundledProgram(
    fileURLToPath(new URL('../support/ordered-dispatcher.ts', import.meta.url)),
  );
  const told = { settings: { ...SETTINGS, fleet }, url: redis.url, list };
  const env: NodeJS.ProcessEnv = { ...process.env, SLUICE_TEST_DISPATCHER: JSON.stringify(told) };
  delete env.NODE_ENV;
  delete env.VITEST;
  const child = fork(script, [], { execArgv: [], env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  await once(child, 'message');
  return child;
}

/** Ids without their repeats. */
const firstOnes = (ids: readonly string[]) => [...new Set(ids)];

function expectOrder(ids: readonly string[], subjects: number, n: number): void {
  const firsts = firstOnes(ids);
  for (let s = 0; s < subjects; s++) {
    const own = firsts.filter((id) => id.startsWith(`s${s}-`));
    expect(own).toEqual(Array.from({ length: n }, (_, i) => `s${s}-${i}`));
  }
}

describe('events of one subject', () => {
  it('arrive in their order with a sink that refuses at random and dispatchers that are killed', async () => {
    const config = configWith(SETTINGS);
    const { fleet } = config;
    const list = `took-${fleet}`;
    const store = await openRedisStore({ url: redis.url, fleet, outboxCap: 100_000 });
    const client = new Redis(redis.url);
    try {
      await store.outbox.openReader('ordered', '');
      const [subjects, n] = [30, 20];
      const events = eventsOf(subjects, n);
      let [first] = [await startProcess(fleet, list)];
      const second = await startProcess(fleet, list);
      for (let from = 0; from < events.length; from += 50) {
        await emitTo(redis.url, fleet, events.slice(from, from + 50));
        if (from !== 200 && from !== 400) continue;
        await expect.poll(() => client.llen(list), COMFORT).toBeGreaterThan(from / 4);
        first.kill('SIGKILL');
        first = await startProcess(fleet, list);
      }
      await expect.poll(() => store.outbox.outstanding('ordered'), COMFORT).toBe(0);
      const took = await client.lrange(list, 0, -1);
      expectOrder(took, subjects, n);
      expect(firstOnes(took)).toHaveLength(subjects * n);
      expect(await store.letters.counts()).toEqual([]);
      for (const child of [first, second]) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
    } finally {
      client.disconnect();
      await store.close();
    }
  });

  it('wait for the one before them until it has arrived or is a dead letter; other lanes go on', async () => {
    const events = eventsOf(20, 3);
    const bad = laneOf('s0');
    const sink = new FakeSink((_, { id }) => (id === 's0-0' ? refuses : undefined));
    const fleet = await openTestFleet(redis.url, configWith(SETTINGS), []);
    const { store } = fleet.engine;
    await store.outbox.openReader('r', '');
    await emitTo(redis.url, fleet.engine.config.fleet, events);
    const reader = readerOf('r', sink, { order: 'subject', tries: 4, longestWaitMs: 2000 });
    const dispatcher = await startDispatcher(fleet.engine, [reader]);
    try {
      await expect.poll(() => store.outbox.outstanding('r'), COMFORT).toBe(0);
      const took = sink.took.map(({ id }) => id);
      expect(took.filter((id) => id.startsWith('s0-'))).toEqual(['s0-1', 's0-2']);
      const { letters } = await store.letters.list({ endpoint: 'r' }, '', 10);
      expect(letters).toMatchObject([{ id: 's0-0', tries: 4, code: 'refused' }]);
      const others = events.filter(({ id }) => laneOf(id.split('-')[0] ?? '') !== bad).map(({ id }) => id);
      expect(others.length).toBeGreaterThan(LANES);
      const blocked = took.indexOf('s0-1');
      expect(others.every((id) => took.indexOf(id) < blocked)).toBe(true);
    } finally {
      await dispatcher.stop();
      await fleet.close();
    }
  });

  it('keep their order when Redis is full in between', async () => {
    const [subjects, n] = [20, 20];
    let calls = 0;
    const sink = new FakeSink((call) => {
      calls = call;
      return call % 4 === 0 ? refuses : undefined;
    });
    const fleet = await openTestFleet(redis.url, configWith(SETTINGS), []);
    const { store } = fleet.engine;
    const client = new Redis(redis.url);
    await store.outbox.openReader('r', '');
    await emitTo(redis.url, fleet.engine.config.fleet, eventsOf(subjects, n));
    const reader = readerOf('r', sink, { order: 'subject', tries: 1000, batch: 4, longestWaitMs: 20 });
    const dispatcher = await startDispatcher(fleet.engine, [reader]);
    try {
      for (const from of [20, 60]) {
        await expect.poll(() => calls, COMFORT).toBeGreaterThan(from);
        await client.config('SET', 'maxmemory', '1mb');
        await delay(700);
        await client.config('SET', 'maxmemory', '0');
      }
      await expect.poll(() => store.outbox.outstanding('r'), COMFORT).toBe(0);
      const took = sink.took.map(({ id }) => id);
      expectOrder(took, subjects, n);
      expect(firstOnes(took)).toHaveLength(subjects * n);
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
      await dispatcher.stop();
      await fleet.close();
    }
  });
});
