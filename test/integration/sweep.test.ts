import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openBatch } from '../../src/app/opening.js';
import { Submitter } from '../../src/app/submit.js';
import { type SweepSettings, sweep } from '../../src/app/sweep.js';
import { createAggregator, keeperOf, registryOf } from '../../src/compose.js';
import type { Chunk } from '../../src/core/manifest.js';
import { startAggregator } from '../../workers/aggregator.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { blobOf, openingOf, sealed, submission } from '../support/evidence.js';
import {
  configWith,
  evaluationsOf,
  openTestFleet,
  outboxOf,
  submitSettings,
  type TestFleet,
} from '../support/fleet.js';
import { useTestRedis } from '../support/use-redis.js';

const scenario = sealed('s', {
  job: [{ label: 'ok', validator: 'job_resolution_status', pattern: 'success' }],
});
const runs = Array.from({ length: 5 }, (_, i) =>
  submission(i, scenario, { id: `r${i}`, job: { resolution_status: i === 4 ? 'partial' : 'success' } }),
);
const SETTINGS: SweepSettings = {
  checkAfterMs: 60_000,
  limit: 100,
  keepEventsMs: 7 * 86_400_000,
  keepEvents: 1e6,
  keep: { evaluations: 1e6, batches: 1000 },
};
const COMFORT = { timeout: 30_000, interval: 50 };

const redis = useTestRedis();

describe('the sweeper', () => {
  let fleet: TestFleet;
  let late: number;
  const started: Role[] = [];
  beforeEach(async () => {
    late = 0;
    fleet = await openTestFleet(redis.url, configWith(), []);
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((role) => role.stop()));
    await fleet.close();
  });

  /** Accepts the runs as a submitter does; `enqueue: false` is a submitter that died right after. */
  async function submit(enqueue: boolean): Promise<Chunk> {
    const { store, queue, clock, config } = fleet.engine;
    const opening = await openBatch(store, openingOf('b', [scenario]));
    const noQueue = { enqueue: async () => {}, isAlive: async () => true, close: async () => {} };
    const deps = { store, clock, queue: enqueue ? queue : noQueue };
    const submitter = new Submitter(deps, submitSettings(config, { checkAfterMs: 0 }), opening, [
      blobOf(scenario),
    ]);
    for (const run of runs) await submitter.add(run);
    await submitter.finish();
    await store.batches.sealBatch('b', runs.length);
    const [chunk] = await store.batches.chunksOf('b');
    return (await store.evaluations.chunk(chunk?.id ?? ''))?.chunk as Chunk;
  }

  const sweepOnce = () => {
    const { store, queue, config } = fleet.engine;
    const clock = { now: () => Date.now() + late };
    const errors: Error[] = [];
    const parts = { store, queue, clock, config };
    const onError = (error: Error) => errors.push(error);
    return sweep({
      ...parts,
      fleet: config.fleet,
      aggregator: createAggregator(parts),
      keeper: keeperOf(parts),
      registry: registryOf(parts),
      settings: SETTINGS,
      onError,
    }).then((report) => ({ ...report, errors }));
  };
  const work = async () => {
    started.push(await startExecutor(fleet.engine), await startAggregator(fleet.engine));
  };
  const completed = () =>
    vi.waitFor(
      async () => expect((await fleet.engine.store.batches.batch('b'))?.state).toBe('completed'),
      COMFORT,
    );
  const decisions = async () =>
    (await outboxOf(fleet.engine.store)).filter(({ type }) => /evaluation\.(passed|failed)/.test(type));
  const generation = async (chunk: Chunk) =>
    (await fleet.engine.store.evaluations.chunk(chunk.id))?.generation;

  it('enqueues what was accepted and never enqueued', async () => {
    const chunk = await submit(false);
    await work();
    expect(await sweepOnce()).toMatchObject({ requeued: 1, alive: 0, errors: [] });
    await completed();
    expect(await generation(chunk)).toBe(2);
    expect(await fleet.engine.store.batches.batch('b')).toMatchObject({ passed: 4, failed: 1, errored: 0 });
    expect(await decisions()).toHaveLength(5);
  });

  it('enqueues a lost flow anew under the next generation, decided once', async () => {
    const chunk = await submit(true);
    const prefix = `${fleet.engine.config.fleet}:{0}:`;
    const lost = (await redis.client.keys(`${prefix.replace(/[[\]*?]/g, '\\$&')}*`)).filter((key) =>
      /:\{0\}:(pure|runner|decide):/.test(key),
    );
    expect(lost.length).toBeGreaterThan(0);
    await redis.client.del(...lost);
    expect(await sweepOnce()).toMatchObject({ requeued: 1 });
    expect(await generation(chunk)).toBe(2);
    await work();
    await completed();
    expect(await decisions()).toHaveLength(5);
    expect(await sweepOnce()).toMatchObject({ requeued: 0, alive: 0, overdue: 0, completed: 0 });
  });

  it('leaves what is alive alone, and looks again later', async () => {
    const chunk = await submit(true);
    expect(await sweepOnce()).toMatchObject({ alive: 1, requeued: 0 });
    expect(await sweepOnce()).toMatchObject({ alive: 0, requeued: 0 });
    late = SETTINGS.checkAfterMs + 5000;
    expect(await sweepOnce()).toMatchObject({ alive: 1, requeued: 0 });
    expect(await generation(chunk)).toBe(1);
    await work();
    await completed();
    expect(await decisions()).toHaveLength(5);
  });

  it('sees that a flow is alive by the only child that is left of hundreds', async () => {
    const { queue } = fleet.engine;
    const chunk = { id: 'many', attempt: 1, acceptedAt: 1 };
    const packs = Array.from({ length: 300 }, (_, i) => ({ queue: 'pure' as const, from: i, to: i + 1 }));
    await queue.enqueue(chunk, 1, packs);
    const prefix = `${fleet.engine.config.fleet}:{0}:pure:`;
    for (let keep = 0; keep < 300; keep += 37) {
      const dead = packs.flatMap((_, i) => (i === keep ? [] : [`${prefix}many-1-1-${i}`]));
      const kept = await Promise.all(dead.map((key) => redis.client.hgetall(key)));
      await redis.client.del(...dead);
      expect(await queue.isAlive(chunk, 1)).toBe(true);
      const back = redis.client.pipeline();
      dead.forEach((key, i) => {
        back.hset(key, kept[i] ?? {});
      });
      await back.exec();
    }
    await redis.client.del(...packs.map((_, i) => `${prefix}many-1-1-${i}`));
    expect(await queue.isAlive(chunk, 1)).toBe(false);
    expect(await queue.isAlive(chunk, 2)).toBe(false);
  });

  it('decides what is overdue with errors, and late results change nothing', async () => {
    const chunk = await submit(true);
    late = fleet.engine.config.evaluation.deadline + 1000;
    expect(await sweepOnce()).toMatchObject({ overdue: 1 });
    const before = await fleet.engine.store.evaluations.decisions(chunk.id);
    expect(await fleet.engine.store.batches.batch('b')).toMatchObject({ state: 'completed', errored: 5 });
    await work();
    const { store, queue } = fleet.engine;
    await vi.waitFor(async () => expect(await queue.isAlive(chunk, 1)).toBe(false), COMFORT);
    expect(await store.evaluations.decisions(chunk.id)).toEqual(before);
    expect(await decisions()).toHaveLength(5);
    for (const { results } of await evaluationsOf(store, 'b')) expect(results[0]?.outcome).toBe('error');
  });

  it('completes a batch whose completion was missed', async () => {
    const { store } = fleet.engine;
    const chunk = await submit(false);
    const entries = chunk.evaluations.map(({ id }, position) => ({
      position,
      evaluation: id,
      json: '{}',
      status: 'passed' as const,
      vacuousPasses: 0,
      events: [],
    }));
    await store.evaluations.commit(chunk, 's', '{}', entries, Date.now(), 60_000);
    expect((await store.batches.batch('b'))?.state).toBe('open');
    expect(await sweepOnce()).toMatchObject({ completed: 1 });
    expect((await store.batches.batch('b'))?.state).toBe('completed');
    expect((await outboxOf(store)).at(-1)).toMatchObject({
      type: 'dev.sluice.batch.completed.v1',
      data: { total: 5, passed: 5 },
    });
  });

  it('goes on with the others when one chunk cannot be looked at', async () => {
    const { store, config } = fleet.engine;
    const chunk = await submit(false);
    await redis.client.zadd(`${config.fleet}:{0}:open`, 1, 'broken', 2, 'nobody');
    await redis.client.hset(`${config.fleet}:{0}:chunk:broken`, 'm', 'no json', 'g', '1', 'left', '1');
    const report = await sweepOnce();
    expect(report).toMatchObject({ requeued: 1 });
    expect(report.errors).toHaveLength(1);
    expect(await generation(chunk)).toBe(2);
    expect(await store.evaluations.dueChunks(Date.now(), 10)).toEqual(['broken']);
  });

  it('raises a generation once when two sweep at the same time', async () => {
    const chunk = await submit(false);
    const reports = await Promise.all([sweepOnce(), sweepOnce(), sweepOnce()]);
    expect(reports.reduce((sum, { requeued }) => sum + requeued, 0)).toBe(1);
    expect(await generation(chunk)).toBe(2);
  });
});
