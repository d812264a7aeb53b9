import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BullBacklog } from '../../queues/backlog.js';
import { evaluationsOf } from '../../src/compose/intake.js';
import { EXAMPLE_RUN, EXAMPLE_SCENARIO } from '../../src/http/operations/examples.js';
import { FleetGauges } from '../../src/metrics/fleet.js';
import type { Written } from '../../src/metrics/recorder.js';
import type { Figures } from '../../src/ports/figures.js';
import { openFigures } from '../../src/store/redis/figures.js';
import { configWith, openTestFleet, type TestFleet } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis;
let fleet: TestFleet;
let figures: Figures;

beforeAll(async () => {
  redis = await startTestRedis();
  fleet = await openTestFleet(redis.url, { ...configWith(), shards: 2 }, []);
  const { config, shards } = fleet.engine;
  figures = openFigures(redis.url, config.fleet, shards);
}, 30_000);

afterAll(async () => {
  figures?.close();
  await fleet?.close();
  await redis?.stop();
});

async function submit(key: string): Promise<void> {
  await evaluationsOf(fleet.engine).submit({
    origin: 'figures',
    key,
    actor: 'test',
    scenario: { inline: EXAMPLE_SCENARIO },
    run: { inline: EXAMPLE_RUN },
  });
}

const since = async () => (await figures.read()).undelivered.find(({ sink }) => sink === 'hooks')?.since;

describe('the figures of a fleet', () => {
  it('are all zero before there is anything', async () => {
    const { openChunks, outbox, undelivered, memory } = await figures.read();
    expect(openChunks).toBe(0);
    expect(outbox.map(({ entries }) => entries)).toEqual([0, 0]);
    expect(undelivered).toEqual([]);
    expect(memory.used).toBeGreaterThan(0);
    expect(memory.max).toBe(0);
  });

  it('say how old the oldest event is that a sink has not taken, until it has taken all', async () => {
    const { outbox } = fleet.engine.store;
    await outbox.openReader('hooks', '');
    expect(await since()).toBeUndefined();
    const before = Date.now();
    for (let n = 0; n < 8; n++) await submit(`k${n}`);
    const written = await since();
    expect(written).toBeGreaterThanOrEqual(before - 1000);
    const claimed = await outbox.claim('hooks', 'one', 100, 10, 60_000);
    const more = await outbox.claim('hooks', 'one', 100, 10, 60_000);
    const positions = [...claimed, ...more].map(({ position }) => position);
    expect(positions).toHaveLength(8);
    expect(await since()).toBe(written);
    await outbox.holdBack('hooks', positions);
    await outbox.acknowledge('hooks', positions);
    expect(await since()).toBe(written);
    await outbox.letGo('hooks', positions);
    expect(await since()).toBeUndefined();
    const { openChunks, outbox: entries } = await figures.read();
    expect(openChunks).toBe(8);
    expect(entries.reduce((sum, each) => sum + each.entries, 0)).toBe(8);
  });
});

describe('the gauges of a fleet', () => {
  const gaugeOf = (gauges: readonly Written[], name: string) =>
    gauges.find(({ family }) => family.name === name)?.series.map(([, value]) => value);

  it('tell of the backlog, and only that Redis is away as soon as it is', async () => {
    const own = await startTestRedis();
    const { store, clock } = fleet.engine;
    const gauges = new FleetGauges({
      figures: openFigures(own.url, fleet.engine.config.fleet),
      backlog: new BullBacklog({ url: redis.url, fleet: fleet.engine.config.fleet, shards: 2 }, () => {}),
      store,
      clock: { now: () => (clockMs += 5000) },
      deadAfterMs: 6000,
    });
    let clockMs = clock.now();
    const there = await gauges.read();
    expect(gaugeOf(there, 'sluice_redis_up')).toEqual([1]);
    const waiting = (gaugeOf(there, 'sluice_queue_waiting') ?? []) as number[];
    expect(waiting.reduce((sum, jobs) => sum + jobs, 0)).toBeGreaterThanOrEqual(8);
    expect(gaugeOf(there, 'sluice_dead_letters')).toEqual([0, 0]);
    await own.stop();
    const away = await gauges.read();
    expect(away.map(({ family, series }) => [family.name, series])).toEqual([['sluice_redis_up', [[[], 0]]]]);
    await gauges.close();
  });
});
