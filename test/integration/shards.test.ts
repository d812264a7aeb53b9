import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sealBatch } from '../../src/app/batches.js';
import { openBatch } from '../../src/app/opening.js';
import { Submitter } from '../../src/app/submit.js';
import { type FleetEngine, openFleet } from '../../src/compose.js';
import { sha256 } from '../../src/core/digest.js';
import { shardOf, shardOfPlan } from '../../src/core/shards.js';
import { openReshard } from '../../src/store/redis/reshard.js';
import { startExecutor } from '../../workers/executor.js';
import { blobOf, openingOf, sealed, submission } from '../support/evidence.js';
import {
  configWith,
  evaluationsOf,
  eventsByEvaluation,
  HASTY,
  judgeBatch,
  keepAlive,
  openTestFleet,
  outboxOf,
  silent,
  submitSettings,
} from '../support/fleet.js';
import { AGENT, attach, eventsOfPlan, placeOf, register, saying, settled } from '../support/plan-play.js';
import { startTestCluster, type TestCluster } from '../support/redis-cluster.js';
import { useTestRedis } from '../support/use-redis.js';

const scenario = sealed('s', {
  job: [
    { label: 'done', validator: 'job_resolution_status', pattern: 'success' },
    { label: 'few', validator: 'task_count', max: 3 },
  ],
});
const runsOf = (n: number) =>
  Array.from({ length: n }, (_, i) =>
    submission(i, scenario, {
      id: `r${i}`,
      job: { resolution_status: i % 3 === 0 ? 'failed' : 'success', plan: `${i}` },
    }),
  );
const R = 'repo/app';
/** A plan of each shard. */
const PLANS = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8'];

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A page of what a reader has not claimed. */
const claimPage = async ({ store }: FleetEngine) => {
  const entries = await store.outbox.claim('sink', 'c', 50, 1, 60_000);
  await store.outbox.acknowledge(
    'sink',
    entries.map(({ position }) => position),
  );
  return entries.map(({ event }) => event.id);
};

/** Submits plans and waits until they may be applied. */
async function submitPlans(engine: FleetEngine, plans: readonly string[]) {
  const place = placeOf(engine);
  await register(place, [saying('tests')]);
  await attach(place, R, ['tests']);
  const snapshots = { [R]: { tests: 'pass' } };
  for (const plan of plans) {
    const command = `submit ${plan}`;
    await place.plans.run({ type: 'submit', plan, command, snapshots, actor: AGENT });
  }
  for (const plan of plans) await settled(engine.store, plan);
}

async function applyPlans(engine: FleetEngine, ids: readonly string[]) {
  const { plans } = placeOf(engine);
  for (const plan of ids) {
    const { snapshots: digests } = (await engine.store.plans.plan(plan)) ?? { snapshots: null };
    await plans.run({
      type: 'apply',
      plan,
      command: `apply ${plan}`,
      digests: digests ?? {},
      actor: AGENT,
    });
  }
}

/** Judges plans from their submission to their application. */
async function playPlans(engine: FleetEngine, plans: readonly string[]) {
  await submitPlans(engine, plans);
  await applyPlans(engine, plans);
}

/** Every run was decided once, with one event each, and the batch was completed once. */
async function expectOnce({ store }: FleetEngine, id: string, n: number) {
  expect(await store.batches.batch(id)).toMatchObject({ state: 'completed', total: n, decided: n });
  const evaluations = await evaluationsOf(store, id);
  expect(evaluations.map(({ index }) => index)).toEqual(Array.from({ length: n }, (_, i) => i));
  const events = (await outboxOf(store)).filter(({ correlationid }) => correlationid === id);
  expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
  expect(events.filter(({ type }) => type.includes('batch.completed'))).toHaveLength(1);
  const own = Object.values(eventsByEvaluation(events));
  expect(own).toHaveLength(n);
  for (const types of own)
    expect(types.sort()).toEqual([
      'evaluation.accepted',
      expect.stringMatching(/^evaluation\.(passed|failed)$/),
    ]);
}

describe('on a Redis Cluster of three masters', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster();
  });
  afterAll(() => cluster.stop());

  it('three shards judge a batch and plans once each, while a worker is killed', async () => {
    const settings = { ...HASTY, fleet: 'c', shards: 3 };
    const fleet = await openTestFleet(cluster.url, configWith(settings), ['aggregator', 'sweeper']);
    opened.push(() => fleet.close());
    const { engine } = fleet;
    const worker = await keepAlive({ settings, url: cluster.url, roles: ['worker'] });
    const n = 300;
    const judging = judgeBatch(
      engine,
      { id: 'b', scenarios: [scenario], submissions: runsOf(n) },
      { packing: 'off', expected: n, workers: 8 },
    );
    let cursor = '';
    for (let decided = 0; decided === 0; ) {
      const page = await engine.store.batches.decidedSince('b', cursor, 1000);
      cursor = page.cursor;
      decided = page.entries.length;
    }
    const doomed = worker.current();
    const gone = once(doomed, 'exit');
    doomed.kill('SIGKILL');
    await gone;
    await judging;
    await expectOnce(engine, 'b', n);

    // That one knows no plans.
    await worker.stop();
    const executor = await startExecutor(engine);
    opened.push(() => executor.stop());
    await playPlans(engine, PLANS);
    for (const plan of PLANS) {
      expect((await engine.store.plans.plan(plan))?.phase).toBe('applied');
      const types = (await eventsOfPlan(engine.store, plan)).map(({ type }) => type.split('.').slice(2, -1));
      expect(types.filter((type) => type.join('.') === 'evaluation.passed')).toHaveLength(1);
      expect(types.filter((type) => type.join('.') === 'plan.applied')).toHaveLength(1);
    }
    expect((await engine.store.plans.plans({ limit: 100 })).map(({ id }) => id).sort()).toEqual(PLANS);
    expect(new Set(PLANS.map((plan) => shardOfPlan(plan, 3))).size).toBe(3);

    // Each master has the chunks of its own shard, and nothing of another.
    for (const [master, shard] of [2, 1, 0].entries()) {
      const keys = (await cluster.masters[master]?.keys('*')) ?? [];
      expect(keys.filter((key) => !key.startsWith(`c:{${shard}}:`))).toEqual([]);
      const chunks = keys.flatMap((key) => /:chunk:(.*)$/.exec(key)?.[1] ?? []);
      expect(chunks.length).toBeGreaterThan(1);
      expect(new Set(chunks.map((chunk) => shardOf(chunk, 3)))).toEqual(new Set([shard]));
    }
  });

  it('is refused when it is named as one Redis, in words that say how to name it', async () => {
    const url = cluster.url.replace('+cluster', '').split(',')[0] ?? '';
    const error = await openFleet(configWith(), url, silent).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'USAGE', message: expect.stringContaining('redis+cluster://') });
  });
});

describe('on one Redis', () => {
  const redis = useTestRedis();

  /** All keys of a fleet with what is in them, apart from what passes with time. */
  async function contentOf(fleet: string): Promise<Record<string, string>> {
    const keys = (await redis.client.keys(`${fleet}:*`))
      .filter((key) => !/:(?:roles|lead|stalled-check)/.test(key))
      .sort();
    const dumps = await Promise.all(keys.map((key) => redis.client.dumpBuffer(key)));
    return Object.fromEntries(keys.map((key, n) => [key, sha256(dumps[n] ?? '')]));
  }

  it('two fleets with the same batches and plans never touch keys of each other', async () => {
    const judge = async (fleet: string, shards: number) => {
      const running = await openTestFleet(redis.url, configWith({ fleet, shards }), ['worker', 'aggregator']);
      await judgeBatch(running.engine, { id: 'b', scenarios: [scenario], submissions: runsOf(40) });
      await playPlans(running.engine, ['p1', 'p2']);
      await expectOnce(running.engine, 'b', 40);
      await running.close();
    };
    await judge('one', 1);
    const before = await contentOf('one');
    expect(Object.keys(before).length).toBeGreaterThan(10);
    await judge('onemore', 2);
    expect(await contentOf('one')).toEqual(before);
    expect((await redis.client.keys('*')).filter((key) => !/^(?:one|onemore):\{[01]\}:/.test(key))).toEqual(
      [],
    );
  });

  it('a fleet keeps its number of shards, whatever the settings of a process say', async () => {
    const open = async (shards?: number) => {
      const more = shards === undefined ? {} : { shards };
      const engine = await openFleet(configWith({ fleet: 'kept', ...more }), redis.url, silent);
      await engine.close();
      return engine.shards;
    };
    // Who only looks makes no fleet.
    const reshard = await openReshard(redis.url, 'kept');
    expect(await reshard.look()).toEqual({ shards: 1, former: [], left: [] });
    await reshard.close();
    expect(await open(2)).toBe(2);
    expect(await open()).toBe(2);
    await expect(open(3)).rejects.toMatchObject({
      code: 'SHARDS_CHANGED',
      message: expect.stringContaining('sluice reshard --to 3'),
    });
    await redis.client.zadd('older:{0}:roles', 1, 'worker/w');
    const older = openFleet(configWith({ fleet: 'older', shards: 3 }), redis.url, silent);
    await expect(older).rejects.toMatchObject({ code: 'SHARDS_CHANGED' });
  });

  it('more and fewer shards lose nothing: old work is found, goes on, and is judged once', async () => {
    const open = (roles: ('worker' | 'aggregator' | 'sweeper')[]) =>
      openTestFleet(redis.url, configWith({ ...HASTY, fleet: 'moving' }), roles);
    const half = runsOf(60);
    const submit = async (fleet: Awaited<ReturnType<typeof open>>, runs: typeof half) => {
      const { engine } = fleet;
      const opening = await openBatch(engine.store, openingOf('open', [scenario]));
      const submitter = new Submitter(engine, submitSettings(engine.config), opening, [blobOf(scenario)]);
      for (const run of runs) await submitter.add(run);
      return submitter.finish();
    };
    const reshard = await openReshard(redis.url, 'moving');
    opened.push(() => reshard.close());

    // With one shard: a batch that is over, a plan that waits to be applied, and half of a batch.
    let fleet = await open(['worker', 'aggregator']);
    await judgeBatch(fleet.engine, { id: 'done', scenarios: [scenario], submissions: runsOf(20) });
    const before = await evaluationsOf(fleet.engine.store, 'done');
    await submitPlans(fleet.engine, ['p1', 'p2', 'p3']);
    await fleet.engine.store.outbox.openReader('sink', '');
    await Promise.all(fleet.roles.map((role) => role.stop()));
    await submit(fleet, half.slice(0, 30));
    await expect(reshard.change(3)).rejects.toMatchObject({ code: 'IN_USE' });
    await fleet.engine.close();

    for (const [shards, former] of [
      [3, [1]],
      [2, [1, 3]],
    ] as const) {
      expect(await reshard.change(shards)).toMatchObject({ shards, former });
      fleet = await open([]);
      const { store } = fleet.engine;
      expect(await evaluationsOf(store, 'done')).toEqual(before);
      expect((await store.plans.plans({ limit: 9 })).map(({ id, phase }) => [id, phase])).toEqual(
        [...(await Promise.all(['p1', 'p2', 'p3'].map((id) => store.plans.plan(id))))]
          .sort(
            (a, b) => (b?.createdAt ?? 0) - (a?.createdAt ?? 0) || ((a?.id ?? '') < (b?.id ?? '') ? 1 : -1),
          )
          .map((plan) => [plan?.id, 'ready']),
      );
      // What was accepted before is the same evaluation; the rest of it goes where new work goes.
      const rest = shards === 3 ? half.slice(0, 45) : half;
      expect(await submit(fleet, rest)).toMatchObject({ accepted: 15, standing: rest.length - 15 });
      await fleet.close();
    }

    fleet = await open(['worker', 'aggregator', 'sweeper']);
    const { engine } = fleet;
    await sealBatch(engine.store, engine.clock, 'moving', 'open', 60);
    await judgeBatch(engine, { id: 'open', scenarios: [scenario], submissions: half });
    await expectOnce(engine, 'open', 60);
    await applyPlans(engine, ['p1', 'p2', 'p3']);
    // A reader from before gets every event of every time once.
    const events = (await outboxOf(engine.store)).map(({ id }) => id);
    const read: string[] = [];
    for (let page = await claimPage(engine); page.length > 0; page = await claimPage(engine))
      read.push(...page);
    expect(read.sort()).toEqual(events.sort());
    expect((await reshard.look()).left.map(({ shard }) => shard)).toContain(2);
    await fleet.close();
  });
});
