import { describe, expect, it, vi } from 'vitest';
import type { FleetEngine } from '../../src/compose.js';
import { sha256 } from '../../src/core/digest.js';
import type { Result } from '../../src/core/result.js';
import { startAggregator } from '../../workers/aggregator.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { startSweeper } from '../../workers/sweeper.js';
import { sealed, submission } from '../support/evidence.js';
import { type FakeRunners, fakeRunners, hanging } from '../support/fake-runners.js';
import { configWith, evaluationsOf, judgeBatch, openTestFleet, outboxOf } from '../support/fleet.js';
import { AGENT, attach, placeOf, register, settled, shortType } from '../support/plan-play.js';
import { useTestRedis } from '../support/use-redis.js';

const R = 'repo/app';
const COMFORT = { timeout: 30_000, interval: 50 };
/** A sweeper that looks often. */
const SOON = { sweeper: { every: '200ms', check_after: '300ms' } };

const redis = useTestRedis();

const commands = (...names: string[]) =>
  names.map((name) => ({ name, description: name, command: ['/bin/true'], read_only: true }));
const playbook = sealed(
  'disk',
  { job: [{ label: 'ok', validator: 'ansible', ansiblePath: 'a.yml' }] },
  sha256('b'),
);

/** A fleet whose workers have the runners that they are given. */
async function open(settings: Record<string, Record<string, unknown>> = {}) {
  const fleet = await openTestFleet(redis.url, configWith(settings), []);
  const { engine } = fleet;
  const roles: Role[] = [];
  const place = placeOf(engine);
  const started = async (role: Promise<Role>) => {
    roles.push(await role);
    return roles.at(-1) as Role;
  };
  return {
    engine,
    plans: place.plans,
    worker: (runners: FakeRunners, of: FleetEngine = engine) => started(startExecutor(of, runners)),
    aggregator: () => started(startAggregator(engine)),
    sweeper: () => started(startSweeper(engine)),
    async validating(plan: string, names: readonly string[]) {
      await register(place, commands(...names));
      await attach(place, R, names);
      const snapshots = { [R]: { files: {} } };
      return place.plans.run({ type: 'submit', plan, command: 'c0', snapshots, actor: AGENT });
    },
    /** The jobs of runners that are put off. */
    delayed: () => redis.client.zcard(`${engine.config.fleet}:{0}:runner:delayed`),
    async results(plan: string): Promise<Result[]> {
      return (await place.plans.status(plan)).evaluations.flatMap(({ results }) => results);
    },
    async unserved() {
      const events = await outboxOf(engine.store);
      return events.filter(({ type }) => shortType(type) === 'evaluation.unserved');
    },
    async close() {
      await Promise.all(roles.map((role) => role.stop()));
      await fleet.close();
    },
  };
}
type Opened = Awaited<ReturnType<typeof open>>;

/** Cases take their time with waiting: they run at the same time, each on a fleet of its own. */
const onFleet = (
  name: string,
  settings: Record<string, Record<string, unknown>>,
  play: (fleet: Opened) => Promise<void>,
) =>
  it.concurrent(name, async () => {
    const fleet = await open(settings);
    try {
      await play(fleet);
    } finally {
      await fleet.close();
    }
  }, 60_000);

describe('a check whose runner some worker lacks', () => {
  onFleet('goes to the one that comes later and has it, within seconds, in one try', {}, async (fleet) => {
    await fleet.worker(fakeRunners([]));
    await fleet.aggregator();
    await fleet.validating('p', ['a', 'b', 'c']);
    await vi.waitFor(async () => expect(await fleet.delayed()).toBe(3), COMFORT);
    const begun = Date.now();
    const able = await fleet.worker(fakeRunners(['command']));
    expect(await settled(fleet.engine.store, 'p')).toMatchObject({ phase: 'ready' });
    expect(Date.now() - begun).toBeLessThan(10_000);
    const told = (await fleet.results('p')).map(({ outcome, worker, tries }) => ({ outcome, worker, tries }));
    expect(told).toEqual(Array(3).fill({ outcome: 'pass', worker: able.id, tries: 1 }));
  });

  onFleet('goes to the one that has it when that one is there already', {}, async (fleet) => {
    await fleet.worker(fakeRunners(['ansible']));
    const able = await fleet.worker(fakeRunners(['command']));
    await fleet.aggregator();
    await fleet.validating('p', ['a', 'b', 'c', 'd']);
    await settled(fleet.engine.store, 'p');
    const told = (await fleet.results('p')).map(({ outcome, worker }) => [outcome, worker]);
    expect(told).toEqual(Array(4).fill(['pass', able.id]));
  });

  onFleet('of a scenario as well', {}, async (fleet) => {
    const { engine } = fleet;
    await fleet.worker(fakeRunners(['command']));
    const able = await fleet.worker(fakeRunners(['ansible']));
    await fleet.aggregator();
    const bundles = [{ digest: sha256('b'), content: JSON.stringify({ files: {} }) }];
    const runs = [submission(0, playbook, { id: 'r0' })];
    await judgeBatch(engine, { id: 'b', scenarios: [playbook], submissions: runs, bundles });
    const [evaluation] = await evaluationsOf(engine.store, 'b');
    expect(evaluation?.results).toMatchObject([{ worker: able.id, tries: 1 }]);
  });
});

describe('a check that no living worker serves', () => {
  onFleet(
    'is told once, in an event and a mark, and is an error only at its deadline',
    { ...SOON, evaluation: { deadline: '4s' }, plans: { error_retries: 0 } },
    async (fleet) => {
      const { store } = fleet.engine;
      const idle = await fleet.worker(fakeRunners(['ansible']));
      await fleet.aggregator();
      await fleet.sweeper();
      const { plan } = await fleet.validating('p', ['a', 'b']);
      const evaluation = plan.awaits?.evaluation ?? '';
      await vi.waitFor(async () => expect(await fleet.unserved()).toHaveLength(1), COMFORT);
      expect(await store.unserved.list(10)).toMatchObject([{ chunk: evaluation, needs: ['command'] }]);
      expect((await fleet.unserved())[0]).toMatchObject({
        subject: evaluation,
        correlationid: 'p',
        data: {
          plan: 'p',
          needs: ['command'],
          checks: 2,
          workers: [{ worker: idle.id, serves: ['ansible', 'graph', 'pure'] }],
        },
      });
      const deadline = Date.parse((await fleet.unserved())[0]?.data.deadline as string);
      await settled(store, 'p');
      expect(Date.now()).toBeGreaterThanOrEqual(deadline);
      const since = (await fleet.unserved())[0]?.data.since as string;
      expect(await fleet.results('p')).toMatchObject(
        Array(2).fill({
          outcome: 'error',
          message: `no result: no living worker served command from ${since} until the deadline`,
          data: { reason: 'no_runner', needs: ['command'] },
          tries: 0,
          worker: null,
        }),
      );
      expect(await store.unserved.list(10)).toEqual([]);
    },
  );

  onFleet('is told where no worker takes jobs of runners at all', SOON, async (fleet) => {
    const { engine } = fleet;
    const config = configWith({ fleet: engine.config.fleet, worker: { runner_concurrency: 0 } });
    await fleet.worker(fakeRunners(['command']), { ...engine, config });
    await fleet.sweeper();
    await fleet.validating('p', ['a']);
    await vi.waitFor(async () => expect(await fleet.unserved()).toHaveLength(1), COMFORT);
    expect((await fleet.unserved())[0]?.data).toMatchObject({ workers: [{ serves: ['pure'] }] });
    expect(await fleet.delayed()).toBe(0);
  });

  onFleet(
    'is an error at once where the only worker takes no jobs of runners, and nobody else comes',
    { plans: { error_retries: 0 } },
    async (fleet) => {
      const { engine } = fleet;
      const worker = { runner_concurrency: 0, unserved: 'error' };
      const config = configWith({ fleet: engine.config.fleet, worker });
      await fleet.worker(fakeRunners(['command']), { ...engine, config });
      await fleet.aggregator();
      await fleet.validating('p', ['a']);
      await settled(engine.store, 'p');
      expect(await fleet.results('p')).toMatchObject([
        {
          outcome: 'error',
          message: expect.stringContaining('command (worker.runner_concurrency is 0 in the settings)'),
          data: { reason: 'no_runner', needs: ['command'] },
        },
      ]);
    },
  );

  onFleet('is told no longer once a worker has come that serves it', SOON, async (fleet) => {
    const { store } = fleet.engine;
    const { run, begun } = hanging();
    await fleet.sweeper();
    await fleet.validating('p', ['a']);
    await vi.waitFor(async () => expect(await store.unserved.list(1)).toHaveLength(1), COMFORT);
    const able = await fleet.worker(fakeRunners(['command'], run));
    await begun;
    await vi.waitFor(async () => expect(await store.unserved.list(1)).toEqual([]), COMFORT);
    expect(await fleet.unserved()).toHaveLength(1);
    await fleet.plans.run({ type: 'cancel', plan: 'p', command: 'c1', actor: AGENT });
    await able.stop();
  });
});

describe('a check that is running', () => {
  onFleet('is stopped when its plan is cancelled, and brings nothing', {}, async (fleet) => {
    const { engine } = fleet;
    const { run, begun, stopped } = hanging();
    let calls = 0;
    const once = (...given: Parameters<typeof run>) => {
      calls += 1;
      return calls === 1
        ? run(...given)
        : Promise.resolve({ kind: 'value' as const, value: { passed: true } });
    };
    await fleet.worker(fakeRunners(['command'], once));
    await fleet.aggregator();
    await fleet.validating('p', ['a']);
    await begun;
    await fleet.plans.run({ type: 'cancel', plan: 'p', command: 'c1', actor: AGENT });
    await stopped;
    const { fleet: prefix } = engine.config;
    await vi.waitFor(
      async () => expect(await redis.client.llen(`${prefix}:{0}:runner:active`)).toBe(0),
      COMFORT,
    );
    expect(await redis.client.exists(`${prefix}:{0}:late`)).toBe(0);
    const snapshots = { [R]: {} };
    await fleet.plans.run({ type: 'submit', plan: 'q', command: 'c2', snapshots, actor: AGENT });
    expect(await settled(engine.store, 'q')).toMatchObject({ phase: 'ready' });
  });

  onFleet(
    'is stopped at the end of a drain, and what runners keep is ended',
    { worker: { drain: '300ms' } },
    async (fleet) => {
      const { run, begun, stopped } = hanging();
      const runners = fakeRunners(['command'], run);
      const worker = await fleet.worker(runners);
      await fleet.validating('p', ['a']);
      await begun;
      await worker.stop();
      await stopped;
      expect(runners.closed).toEqual({ command: 1 });
      expect((await fleet.results('p')).length).toBe(0);
    },
  );
});
