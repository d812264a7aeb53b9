import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { PlanRequest } from '../../src/app/plan/requests.js';
import type { FleetEngine } from '../../src/compose.js';
import type { RoleName } from '../../src/ports/store.js';
import { startAggregator } from '../../workers/aggregator.js';
import { openSinkReader, startDispatcher } from '../../workers/dispatcher.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { startSweeper } from '../../workers/sweeper.js';
import { configWith, openTestFleet } from '../support/fleet.js';
import { type Kill, type PlanProcess, startPlanProcess } from '../support/plan-fleet.js';
import {
  AGENT,
  attach,
  eventsOfPlan,
  placeOf,
  register,
  saying,
  shortType,
  untilPlan,
  verdictsOf,
} from '../support/plan-play.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const PLAN = 'p';
const RESOURCE = 'repo/app';
const SETTINGS = {
  worker: { lock: '1500ms', stalled_interval: '300ms', poisonous_after: 50, max_stalls: 100 },
  sweeper: { every: '250ms', check_after: '800ms' },
};

type Wish = PlanRequest extends infer R ? (R extends unknown ? Omit<R, 'actor'> : never) : never;
type Settings = Record<string, Record<string, unknown>>;

/** A plan from its first command to its end. */
interface Script {
  commands: Wish[];
  /** Phase in which each command leaves the plan, once its evaluations are through. */
  phases: string[];
  settings?: Settings;
  roles: RoleName[];
}

const snapshots = (tests: string) => ({ [RESOURCE]: { tests, lint: 'pass' } });
const submitted = (tests: string): Wish => ({
  type: 'submit',
  plan: PLAN,
  command: 'c1',
  snapshots: snapshots(tests),
});
const ALL: RoleName[] = ['worker', 'aggregator', 'sweeper', 'dispatcher'];

const SCRIPTS = {
  /** Fails, is fixed in two stages, passes, is applied. */
  fixed: {
    commands: [
      submitted('fail'),
      { type: 'fix', plan: PLAN, command: 'c2', snapshots: snapshots('pass') },
      { type: 'apply', plan: PLAN, command: 'c3', snapshots: snapshots('pass') },
    ],
    phases: ['fix', 'ready', 'applied'],
    roles: ALL,
  },
  /** Errors, is judged again twice, and goes on as failed. */
  errors: { commands: [submitted('error')], phases: ['fix'], roles: ALL },
  /** Nobody works: every evaluation is decided by its deadline. */
  overdue: {
    commands: [submitted('pass')],
    phases: ['fix'],
    settings: { evaluation: { deadline: '400ms' } },
    roles: ['aggregator', 'sweeper', 'dispatcher'],
  },
  /** Nobody strategizes, twice. */
  late: {
    commands: [
      { type: 'create', plan: PLAN, command: 'c1', resources: [RESOURCE] },
      { type: 'respond', plan: PLAN, command: 'c2', answer: 'retry', guidance: 'hurry' },
    ],
    phases: ['escalated', 'failed'],
    settings: { plans: { deadlines: { strategize: '400ms' } } },
    roles: ALL,
  },
} satisfies Record<string, Script>;

interface Case {
  name: string;
  script: keyof typeof SCRIPTS;
  /** A role, or the sender of the n-th command, from 0. */
  victim: RoleName | number;
  kill: Kill;
  /** A second process that ends itself; its role is healthy in no other until then. */
  next?: { victim: RoleName; kill: Kill };
  /** What a dead reader claimed is taken over after half a minute: its sink may end before that. */
  outstanding?: boolean;
}

const at = (what: Kill['at'], when: Kill['when'], nth = 1): Kill => ({ at: what, when, nth });
const one = (name: string, script: Case['script'], victim: Case['victim'], kill: Kill): Case => ({
  name,
  script,
  victim,
  kill,
});

const CASES: Case[] = [
  one('dispatcher: claimed, not held back', 'fixed', 'dispatcher', at('holdBack', 'before')),
  one('dispatcher: before delivery', 'fixed', 'dispatcher', at('deliver', 'before')),
  one('dispatcher: delivered, job not done', 'fixed', 'dispatcher', at('deliver', 'after', 2)),
  one('dispatcher: let go, job not done', 'fixed', 'dispatcher', at('letGo', 'after')),
  {
    ...one('dispatcher: handed on, not acknowledged', 'fixed', 'dispatcher', at('acknowledge', 'before')),
    outstanding: true,
  },
  one('submit: before the step', 'fixed', 0, at('step', 'before')),
  one('submit: stepped, not enqueued', 'fixed', 0, at('step', 'after')),
  one('submit: enqueued, not answered', 'fixed', 0, at('enqueue', 'after')),
  one('fix: before the step', 'fixed', 1, at('step', 'before')),
  one('fix: stepped, not enqueued', 'fixed', 1, at('step', 'after')),
  one('fix: enqueued, not answered', 'fixed', 1, at('enqueue', 'after')),
  one('apply: before the step', 'fixed', 2, at('step', 'before')),
  one('apply: stepped, not answered', 'fixed', 2, at('step', 'after')),
  one('worker: judged, not recorded', 'fixed', 'worker', at('record', 'before')),
  one('worker: recorded, job not done', 'fixed', 'worker', at('record', 'after')),
  one('worker: second stage, not recorded', 'fixed', 'worker', at('record', 'before', 4)),
  one('aggregator: before staging, fails', 'fixed', 'aggregator', at('step', 'before')),
  one('aggregator: staged, fails', 'fixed', 'aggregator', at('step', 'amid')),
  one('aggregator: stepped, fails', 'fixed', 'aggregator', at('step', 'after')),
  one('aggregator: staged, first stage', 'fixed', 'aggregator', at('step', 'amid', 2)),
  one('aggregator: second stage not enqueued', 'fixed', 'aggregator', at('step', 'after', 2)),
  one('aggregator: second stage enqueued', 'fixed', 'aggregator', at('enqueue', 'after')),
  one('aggregator: before staging, passes', 'fixed', 'aggregator', at('step', 'before', 3)),
  one('aggregator: staged, passes', 'fixed', 'aggregator', at('step', 'amid', 3)),
  one('aggregator: stepped, passes', 'fixed', 'aggregator', at('step', 'after', 3)),
  one('aggregator: again, not enqueued', 'errors', 'aggregator', at('step', 'after')),
  one('aggregator: again, enqueued', 'errors', 'aggregator', at('enqueue', 'after')),
  {
    ...one('sweeper: raised, not enqueued', 'fixed', 0, at('step', 'after')),
    next: { victim: 'sweeper', kill: at('raiseGeneration', 'after') },
  },
  one('sweeper: overdue, before the step', 'overdue', 'sweeper', at('step', 'before')),
  one('sweeper: overdue, stepped', 'overdue', 'sweeper', at('step', 'after')),
  one('sweeper: deadline, before the step', 'late', 'sweeper', at('step', 'before')),
  one('sweeper: deadline, stepped', 'late', 'sweeper', at('step', 'after')),
];

let redis: TestRedis;
let folder: string;
const table: string[] = [];
beforeAll(async () => {
  redis = await startTestRedis();
  folder = await mkdtemp(join(tmpdir(), 'sluice-plan-kills-'));
});
afterAll(async () => {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
  process.stdout.write(`${table.join('\n')}\n`);
});

interface Scene {
  engine: FleetEngine;
  settings: Settings & { fleet: string };
  sink: string;
  reader: string;
  start(role: RoleName): Promise<void>;
  close(): Promise<void>;
}

/** A fleet of its own, with two validations attached, and no roles yet. */
async function openScene(fleet: string, script: Script): Promise<Scene> {
  const settings = { ...SETTINGS, ...script.settings, fleet } as unknown as Scene['settings'];
  const { engine, close } = await openTestFleet(redis.url, configWith(settings), []);
  const place = placeOf(engine);
  await register(place, [saying('tests'), saying('lint')]);
  await attach(place, RESOURCE, ['tests', 'lint']);
  const sink = `ndjson=${join(folder, fleet)}`;
  const reader = await openSinkReader(sink, redis.url);
  await engine.store.outbox.openReader(reader.name, '');
  await reader.sink.close();
  const roles: Promise<Role>[] = [];
  const starters: Record<RoleName, () => Promise<Role>> = {
    worker: () => startExecutor(engine),
    aggregator: () => startAggregator(engine),
    sweeper: () => startSweeper(engine),
    dispatcher: async () => startDispatcher(engine, [await openSinkReader(sink, redis.url)]),
  };
  return {
    engine,
    settings,
    sink,
    reader: reader.name,
    async start(role) {
      const starting = starters[role]();
      roles.push(starting);
      await starting;
    },
    async close() {
      await Promise.all(roles.map(async (role) => (await role).stop()));
      await close();
    },
  };
}

/** Everything that must be the same however often a process died. */
async function outcomeOf({ store }: FleetEngine) {
  const { timeline, plan, evaluations } = await placeOf({
    store,
    config: configWith(),
    clock: { now: () => Date.now() },
    queue: { enqueue: async () => {}, isAlive: async () => true, close: async () => {} },
  }).plans.status(PLAN);
  const events = await eventsOfPlan(store, PLAN);
  return {
    events: events.map(({ id, type, subject, sequence }) => ({
      id,
      type: shortType(type),
      subject,
      sequence,
    })),
    timeline: timeline.map(({ at: _at, ...entry }) => entry),
    plan: { ...plan, createdAt: 0, updatedAt: 0, deadline: null },
    evaluations: evaluations.map(({ evaluation, attempt, stage, decision, results }) => ({
      evaluation,
      attempt,
      stage,
      status: decision?.status,
      outcomes: results.map(({ validation, outcome }) => [validation, outcome]),
    })),
  };
}
type Outcome = Awaited<ReturnType<typeof outcomeOf>>;

/** Lines of the sink: ids of what was delivered, as often as it was. */
async function delivered(sink: string): Promise<string[]> {
  const text = await readFile(sink.slice('ndjson='.length), 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

/** Sends the script's commands, each when the plan has come to rest after the one before. */
async function play(scene: Scene, script: Script, send: (n: number, request: PlanRequest) => Promise<void>) {
  for (const [n, wish] of script.commands.entries()) {
    await send(n, { ...wish, actor: AGENT } as PlanRequest);
    const state = await untilPlan(
      scene.engine.store,
      PLAN,
      ({ awaits, phase }) => awaits === null && (script.settings === undefined || phase === script.phases[n]),
    );
    expect(state.phase).toBe(script.phases[n]);
  }
}

async function undisturbed(name: keyof typeof SCRIPTS): Promise<Outcome> {
  const script: Script = SCRIPTS[name];
  const scene = await openScene(`quiet-${name}`, script);
  try {
    await Promise.all(script.roles.map((role) => scene.start(role)));
    const { plans } = placeOf(scene.engine);
    await play(scene, script, async (_n, request) => void (await plans.run(request)));
    return await outcomeOf(scene.engine);
  } finally {
    await scene.close();
  }
}

const quiet = new Map<string, Promise<Outcome>>();
const quietly = (name: keyof typeof SCRIPTS): Promise<Outcome> => {
  const known = quiet.get(name) ?? undisturbed(name);
  quiet.set(name, known);
  return known;
};

async function runCase({ name, script: scriptName, victim, kill, next, outstanding }: Case, n: number) {
  const began = performance.now();
  const script: Script = SCRIPTS[scriptName];
  const expected = await quietly(scriptName);
  const scene = await openScene(`kill${n}`, script);
  const { engine, settings, sink, reader } = scene;
  const { store } = engine;
  const doomed: PlanProcess[] = [];
  const successions: Promise<void>[] = [];
  const fall = async (told: Kill, role?: RoleName): Promise<PlanProcess> => {
    const process = await startPlanProcess({
      settings,
      url: redis.url,
      sink,
      kill: told,
      ...(role === undefined ? {} : { role }),
    });
    doomed.push(process);
    // Whoever takes over was not there before: nobody else could have done the step.
    if (role !== undefined) successions.push(process.gone.then(() => scene.start(role)));
    return process;
  };
  try {
    const victims = [victim, next?.victim];
    const healthy = script.roles.filter((role) => !victims.includes(role));
    const [process] = await Promise.all([
      typeof victim === 'number' ? fall(kill) : fall(kill, victim),
      next === undefined ? undefined : fall(next.kill, next.victim),
      ...healthy.map((role) => scene.start(role)),
    ]);
    const { plans } = placeOf(engine);
    await play(scene, script, async (command, request) => {
      if (command === victim) {
        void process.ask({ run: request });
        await process.gone;
      }
      await plans.run(request);
    });
    for (const each of doomed) expect(await each.gone).toEqual([null, 'SIGKILL']);
    await Promise.all(successions);
    const ids = expected.events.map(({ id }) => id);
    await vi.waitFor(
      async () => {
        expect(await delivered(sink)).toEqual(expect.arrayContaining(ids));
        if (outstanding !== true) expect(await store.outbox.outstanding(reader)).toBe(0);
      },
      { timeout: 60_000, interval: 100 },
    );

    const found = await outcomeOf(engine);
    expect(found).toEqual(expected);
    expect(new Set(ids).size).toBe(ids.length);
    expect(found.timeline.map(({ revision }) => revision)).toEqual(found.timeline.map((_, i) => i + 1));
    const verdicts = verdictsOf(await eventsOfPlan(store, PLAN));
    for (const { evaluation } of found.evaluations) {
      expect(verdicts[evaluation]).toHaveLength(1);
      expect(await store.evaluations.decisions(evaluation)).toHaveLength(1);
    }
    expect(await store.evaluations.dueChunks(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    const arrived = await delivered(sink);
    expect(new Set(arrived)).toEqual(new Set(ids));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const counts = [found.evaluations.length, found.timeline.length, ids.length, arrived.length, seconds];
    table.push(name.padEnd(42) + counts.map((count) => String(count).padStart(12)).join(''));
  } finally {
    await Promise.all(doomed.map((each) => each.stop()));
    await Promise.allSettled(successions);
    await scene.close();
  }
}

describe.concurrent('a process that is killed leaves one decision, one transition, one event', () => {
  table.push(
    'killed at'.padEnd(42) +
      ['decisions', 'transitions', 'events', 'delivered', 'seconds']
        .map((word) => word.padStart(12))
        .join(''),
  );
  it.each(CASES.map((each, n) => [each.name, each, n] as const))('%s', async (_name, each, n) => {
    await runCase(each, n);
  });
});
