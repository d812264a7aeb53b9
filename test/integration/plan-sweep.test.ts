import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SweepSettings, sweep } from '../../src/app/sweep.js';
import { createAggregator, type FleetEngine, keeperOf, openFleet, registryOf } from '../../src/compose.js';
import { startAggregator } from '../../workers/aggregator.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { startSweeper } from '../../workers/sweeper.js';
import { configWith, openTestFleet, silent, type TestFleet } from '../support/fleet.js';
import {
  AGENT,
  attach,
  eventsOfPlan,
  type PlanPlace,
  placeOf,
  register,
  saying,
  settled,
  shortType,
  untilPlan,
  verdictsOf,
} from '../support/plan-play.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const R = 'repo/app';
const actor = AGENT;
const SETTINGS: SweepSettings = {
  checkAfterMs: 60_000,
  limit: 100,
  keepEventsMs: 7 * 86_400_000,
  keepEvents: 1e6,
  keep: { evaluations: 1e6, batches: 1000 },
};

let redis: TestRedis;
let fleet: TestFleet;
let place: PlanPlace;
const started: Role[] = [];
const opened: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  fleet = await openTestFleet(redis.url, configWith(), []);
  place = placeOf(fleet.engine);
  await register(place, [saying('tests'), saying('lint')]);
  await attach(place, R, ['tests', 'lint']);
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((role) => role.stop()));
  for (const close of opened.splice(0)) await close();
  await fleet.close();
});

/** The same fleet, whose plans and roles have other settings. */
async function withSettings(settings: Record<string, Record<string, unknown>>): Promise<FleetEngine> {
  const config = configWith({ ...settings, fleet: fleet.engine.config.fleet });
  const engine = await openFleet(config, redis.url, silent);
  opened.push(() => engine.close());
  return engine;
}

/** One sweep, `late` milliseconds from now. */
async function sweepOnce(engine: FleetEngine, late = 0) {
  const { store, queue, config } = engine;
  const clock = { now: () => Date.now() + late };
  const errors: Error[] = [];
  const parts = { store, queue, clock, config };
  const report = await sweep({
    ...parts,
    fleet: config.fleet,
    aggregator: createAggregator(parts),
    keeper: keeperOf(parts),
    registry: registryOf(parts),
    settings: SETTINGS,
    onError: (error) => errors.push(error),
  });
  return { ...report, errors };
}

const work = async () => {
  started.push(await startExecutor(fleet.engine), await startAggregator(fleet.engine));
};
const submit = ({ plans }: PlanPlace, plan: string, tests = 'pass') =>
  plans.run({ type: 'submit', plan, command: 'c0', snapshots: { [R]: { tests } }, actor });
const rowsOf = async (plan: string) => (await place.plans.status(plan)).timeline.map(({ row }) => row);
const typesOf = async (plan: string) =>
  (await eventsOfPlan(fleet.engine.store, plan)).map(({ type }) => shortType(type));

/** No event of the plan twice, and every evaluation decided once. */
async function expectOnce(plan: string): Promise<void> {
  const events = await eventsOfPlan(fleet.engine.store, plan);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  for (const verdicts of Object.values(verdictsOf(events))) expect(verdicts).toHaveLength(1);
}

describe('a sweeper moves plans whose time is up', () => {
  const tiny = (phase: string) => ({
    plans: { deadlines: { [phase]: '150ms' }, revisions: 1, escalations: 1 },
    sweeper: { every: '100ms' },
  });
  const untilPhase = (plan: string, phase: string) =>
    untilPlan(fleet.engine.store, plan, (state) => state.phase === phase);

  it('from strategize to a person, and to the end when escalations are used up', async () => {
    const engine = await withSettings(tiny('strategize'));
    started.push(await startSweeper(engine));
    const { plans } = placeOf(engine);
    await plans.run({ type: 'create', plan: 'p', command: 'c0', resources: [R], actor });
    expect(await untilPhase('p', 'escalated')).toMatchObject({ escalations: 0 });
    await plans.run({ type: 'respond', plan: 'p', command: 'c1', answer: 'retry', actor });
    expect(await untilPhase('p', 'failed')).toMatchObject({ deadline: null });
    expect(await rowsOf('p')).toEqual(['create', 'late-escalate', 'respond-retry', 'late-end']);
    await expectOnce('p');
  });

  it('from execute', async () => {
    const engine = await withSettings(tiny('execute'));
    started.push(await startSweeper(engine));
    const { plans } = placeOf(engine);
    await plans.run({ type: 'create', plan: 'p', command: 'c0', resources: [R], actor });
    await plans.run({ type: 'strategized', plan: 'p', command: 'c1', actor });
    await untilPhase('p', 'escalated');
    const { timeline } = await plans.status('p');
    expect(timeline.at(-1)).toMatchObject({ row: 'late-escalate', from: 'execute', actor: 'sluice/sweeper' });
  });

  it('from fix to a revision, with what was found last', async () => {
    await work();
    const engine = await withSettings(tiny('fix'));
    started.push(await startSweeper(engine));
    await submit(placeOf(engine), 'p', 'fail');
    await untilPhase('p', 'strategize');
    expect(await rowsOf('p')).toEqual(['submit', 'failed-fix', 'fix-late-revise']);
    const events = await eventsOfPlan(engine.store, 'p');
    const asked = events.find(({ type }) => shortType(type) === 'plan.revision.requested');
    expect(JSON.stringify(asked?.data)).toContain('tests says fail');
    await expectOnce('p');
  });

  it('from escalated to the end', async () => {
    const engine = await withSettings({
      plans: { deadlines: { strategize: '100ms', escalated: '150ms' } },
      sweeper: { every: '100ms' },
    });
    started.push(await startSweeper(engine));
    await placeOf(engine).plans.run({ type: 'create', plan: 'p', command: 'c0', resources: [R], actor });
    await untilPhase('p', 'failed');
    expect(await rowsOf('p')).toEqual(['create', 'late-escalate', 'respond-late']);
    expect((await typesOf('p')).filter((type) => type === 'plan.failed')).toHaveLength(1);
  });

  it('once, when two sweep at the same time, and not before', async () => {
    const { engine } = fleet;
    const other = await withSettings({});
    const day = engine.config.plans.deadlines.strategize;
    for (let n = 0; n < 20; n += 1) {
      const plan = `p${n}`;
      await place.plans.run({ type: 'create', plan, command: 'c0', resources: [R], actor });
    }
    expect(await sweepOnce(engine, day - 60_000)).toMatchObject({ moved: 0, errors: [] });
    const reports = await Promise.all([engine, other, engine].map((each) => sweepOnce(each, day + 1)));
    expect(reports.map(({ errors }) => errors)).toEqual([[], [], []]);
    expect(reports.reduce((sum, { moved }) => sum + moved, 0)).toBe(20);
    for (let n = 0; n < 20; n += 1) {
      expect(await rowsOf(`p${n}`)).toEqual(['create', 'late-escalate']);
      await expectOnce(`p${n}`);
    }
  });

  it('or leaves it alone when its command came first, never both', async () => {
    const engine = await withSettings({ plans: { deadlines: { strategize: '1s' } } });
    const { plans } = placeOf(engine);
    for (let n = 0; n < 10; n += 1) {
      const plan = `p${n}`;
      await plans.run({ type: 'create', plan, command: 'c0', resources: [R], actor });
      const command = plans.run({ type: 'strategized', plan, command: 'c1', actor });
      const [report, taken] = await Promise.all([
        sweepOnce(engine, 1001),
        command.then(
          () => true,
          () => false,
        ),
      ]);
      expect(report.moved).toBe(taken ? 0 : 1);
      expect(await rowsOf(plan)).toEqual(['create', taken ? 'strategized' : 'late-escalate']);
    }
  });
});

describe('a sweeper brings evaluations of plans to their decision', () => {
  const lost = { enqueue: async () => {}, isAlive: async () => true, close: async () => {} };

  it('enqueues what was accepted and never enqueued, once for any number of sweepers', async () => {
    const { engine } = fleet;
    await submit(
      placeOf({ ...engine, queue: lost, config: configWith({ sweeper: { check_after: '0ms' } }) }),
      'p',
    );
    const other = await withSettings({});
    const reports = await Promise.all([engine, other].map((each) => sweepOnce(each)));
    expect(reports.reduce((sum, { requeued }) => sum + requeued, 0)).toBe(1);
    await work();
    expect(await settled(engine.store, 'p')).toMatchObject({ phase: 'ready', revision: 2 });
    const [evaluation] = (await place.plans.status('p')).evaluations;
    expect((await engine.store.evaluations.chunk(evaluation?.evaluation ?? ''))?.generation).toBe(2);
    expect(await rowsOf('p')).toEqual(['submit', 'passed']);
    await expectOnce('p');
  });

  it('leaves alone what is alive, and what is not yet due', async () => {
    const { engine } = fleet;
    await submit(place, 'p');
    expect(await sweepOnce(engine)).toMatchObject({ alive: 0, requeued: 0, errors: [] });
    const due = engine.config.sweeper.check_after + 1000;
    expect(await sweepOnce(engine, due)).toMatchObject({ alive: 1, requeued: 0, errors: [] });
    await work();
    expect(await settled(engine.store, 'p')).toMatchObject({ phase: 'ready' });
    expect(await sweepOnce(engine, 10 * due)).toMatchObject({ alive: 0, requeued: 0, overdue: 0 });
  });

  it('decides what is overdue with errors, which moves the plan; what comes later changes nothing', async () => {
    const { engine } = fleet;
    const { deadline } = engine.config.evaluation;
    await submit(place, 'p');
    // Errors alone: judged again twice, each time until its own deadline.
    for (const n of [1, 2, 3])
      expect(await sweepOnce(engine, n * (deadline + 1000))).toMatchObject({ overdue: 1, errors: [] });
    expect(await rowsOf('p')).toEqual(['submit', 'errored', 'errored', 'failed-fix']);
    const before = await place.plans.status('p');
    expect(before.plan).toMatchObject({ phase: 'fix', attempt: 3, awaits: null });
    for (const { decision, results } of before.evaluations) {
      expect(decision?.status).toBe('errored');
      expect(results.map(({ outcome }) => outcome)).toEqual(['error', 'error']);
    }
    await work();
    for (const { evaluation } of before.evaluations) {
      const record = await engine.store.evaluations.chunk(evaluation);
      if (record === undefined) throw new Error(`${evaluation} is gone`);
      await expect.poll(() => engine.queue.isAlive(record.chunk, record.generation)).toBe(false);
    }
    expect(await place.plans.status('p')).toEqual(before);
    await expectOnce('p');
  });

  it('decides an overdue evaluation once when two sweep at the same time', async () => {
    const other = await withSettings({});
    const late = fleet.engine.config.evaluation.deadline + 1000;
    for (let n = 0; n < 10; n += 1) await submit(place, `p${n}`);
    const reports = await Promise.all([fleet.engine, other].map((each) => sweepOnce(each, late)));
    expect(reports.flatMap(({ errors }) => errors)).toEqual([]);
    for (let n = 0; n < 10; n += 1) {
      expect(await rowsOf(`p${n}`)).toEqual(['submit', 'errored']);
      await expectOnce(`p${n}`);
    }
  });

  it('decides it as cancelled where the plan was cancelled first, and only once', async () => {
    const late = fleet.engine.config.evaluation.deadline + 1000;
    for (let n = 0; n < 10; n += 1) {
      const plan = `p${n}`;
      await submit(place, plan);
      await Promise.all([
        sweepOnce(fleet.engine, late),
        place.plans.run({ type: 'cancel', plan, command: 'c1', actor }),
      ]);
      expect((await place.plans.status(plan)).plan).toMatchObject({ phase: 'cancelled', awaits: null });
      expect(['submit,cancel', 'submit,errored,cancel']).toContain((await rowsOf(plan)).join());
      await expectOnce(plan);
      const open = await fleet.engine.store.evaluations.dueChunks(Number.MAX_SAFE_INTEGER, 10);
      expect(open).toEqual([]);
    }
  });
});
