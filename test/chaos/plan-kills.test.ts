import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { PlanRequest } from '../../src/app/plan/requests.js';
import type { FleetEngine } from '../../src/compose.js';
import { sinkObjectOf } from '../../src/core/endpoints.js';
import type { RoleName } from '../../src/ports/store.js';
import { startAggregator } from '../../workers/aggregator.js';
import { openSinkReader, startDispatcher } from '../../workers/dispatcher.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { startSweeper } from '../../workers/sweeper.js';
import { configWith, openTestFleet } from '../support/fleet.js';
import { type Kill, type PlanProcess, startPlanProcess } from '../support/plan-fleet.js';
import {
  CASES,
  type Case,
  PLAN,
  RESOURCE,
  SCRIPTS,
  type Script,
  type Settings,
} from '../support/plan-kill-cases.js';
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
  withPlainIds,
} from '../support/plan-play.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const SETTINGS = {
  worker: { lock: '1500ms', stalled_interval: '300ms', poisonous_after: 50, max_stalls: 100 },
  sweeper: { every: '250ms', check_after: '800ms' },
};

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

const openReader = ({ config, redisUrl, trouble }: FleetEngine, sink: string) =>
  openSinkReader(sinkObjectOf(sink), {
    redisUrl,
    fleet: config.fleet,
    config: config.delivery,
    onError: trouble,
  });

/** A fleet of its own, with two validations attached, and no roles yet. */
async function openScene(fleet: string, script: Script): Promise<Scene> {
  const settings = { ...SETTINGS, ...script.settings, fleet } as unknown as Scene['settings'];
  const { engine, close } = await openTestFleet(redis.url, configWith(settings), []);
  const place = placeOf(engine);
  await register(place, [saying('tests'), saying('lint')]);
  await attach(place, RESOURCE, ['tests', 'lint']);
  const sink = `ndjson=${join(folder, fleet)}`;
  const reader = await openReader(engine, sink);
  await engine.store.outbox.openReader(reader.name, '');
  await reader.sink.close();
  const roles: Promise<Role>[] = [];
  const starters: Record<RoleName, () => Promise<Role>> = {
    worker: () => startExecutor(engine),
    aggregator: () => startAggregator(engine),
    sweeper: () => startSweeper(engine),
    dispatcher: async () => startDispatcher(engine, [await openReader(engine, sink)]),
    server: () => Promise.reject(new Error('no plan is killed by way of a server')),
    autoscaler: () => Promise.reject(new Error('no plan is killed by way of an autoscaler')),
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
  const outcome = {
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
  return withPlainIds(
    outcome,
    evaluations.map(({ evaluation }) => evaluation),
    events.map(({ id }) => id),
  );
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

/** Processes that end themselves; a role that falls with one is taken over by this process. */
class Doomed {
  readonly #scene: Scene;
  readonly #processes: PlanProcess[] = [];
  readonly #successions: Promise<void>[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async start(kill: Kill, role?: RoleName): Promise<PlanProcess> {
    const { settings, sink, start } = this.#scene;
    const told = { settings, url: redis.url, sink, kill };
    const process = await startPlanProcess(role === undefined ? told : { ...told, role });
    this.#processes.push(process);
    // Whoever takes over was not there before: nobody else could have done the step.
    if (role !== undefined) this.#successions.push(process.gone.then(() => start(role)));
    return process;
  }

  /** Each ended itself, where it was told to. */
  async expectDead(): Promise<void> {
    for (const { gone } of this.#processes) expect(await gone).toEqual([null, 'SIGKILL']);
    await Promise.all(this.#successions);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((each) => each.stop()));
    await Promise.allSettled(this.#successions);
  }
}

/** No job of the plan is left: what a dead process had in hand was done again by another. */
async function untilIdle({ store, queue }: FleetEngine): Promise<void> {
  for (const { evaluation } of await store.plans.log(PLAN)) {
    const record = evaluation === null ? undefined : await store.evaluations.chunk(evaluation);
    for (let generation = record?.generation ?? 0; record !== undefined && generation > 0; generation -= 1) {
      // Not `expect.poll`: it knows no test of its own once one that runs beside it has ended.
      await vi.waitFor(async () => expect(await queue.isAlive(record.chunk, generation)).toBe(false), {
        timeout: 60_000,
        interval: 50,
      });
    }
  }
}

/** The plan's life is the undisturbed one, with nothing twice and nothing open, and all of it delivered. */
async function expectUndisturbed(scene: Scene, expected: Outcome, outstanding: boolean): Promise<number[]> {
  const { engine, sink, reader } = scene;
  const { store } = engine;
  const ids = (await eventsOfPlan(store, PLAN)).map(({ id }) => id);
  await vi.waitFor(
    async () => {
      expect(await delivered(sink)).toEqual(expect.arrayContaining(ids));
      if (!outstanding) expect(await store.outbox.outstanding(reader)).toBe(0);
    },
    { timeout: 60_000, interval: 100 },
  );
  const found = await outcomeOf(engine);
  expect(found).toEqual(expected);
  expect(new Set(ids).size).toBe(ids.length);
  expect(found.timeline.map(({ revision }) => revision)).toEqual(found.timeline.map((_, i) => i + 1));
  const verdicts = verdictsOf(await eventsOfPlan(store, PLAN));
  expect(Object.keys(verdicts)).toHaveLength(found.evaluations.length);
  for (const [evaluation, all] of Object.entries(verdicts)) {
    expect(all).toHaveLength(1);
    expect(await store.evaluations.decisions(evaluation)).toHaveLength(1);
  }
  expect(await store.evaluations.dueChunks(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  const arrived = await delivered(sink);
  expect(new Set(arrived)).toEqual(new Set(ids));
  return [found.evaluations.length, found.timeline.length, ids.length, arrived.length];
}

const line = (name: string, columns: readonly (string | number)[]): string =>
  name.padEnd(42) + columns.map((column) => String(column).padStart(12)).join('');

async function runCase({ name, script: scriptName, victim, kill, next, outstanding }: Case, n: number) {
  const script: Script = SCRIPTS[scriptName];
  const expected = await quietly(scriptName);
  const began = performance.now();
  const scene = await openScene(`kill${n}`, script);
  const doomed = new Doomed(scene);
  try {
    const healthy = script.roles.filter((role) => role !== victim && role !== next?.victim);
    const [process] = await Promise.all([
      typeof victim === 'number' ? doomed.start(kill) : doomed.start(kill, victim),
      next === undefined ? undefined : doomed.start(next.kill, next.victim),
      ...healthy.map((role) => scene.start(role)),
    ]);
    const { plans } = placeOf(scene.engine);
    await play(scene, script, async (command, request) => {
      if (command === victim) {
        void process.ask({ run: request });
        await process.gone;
      }
      await plans.run(request);
    });
    await doomed.expectDead();
    if (script.roles.includes('worker')) await untilIdle(scene.engine);
    const counts = await expectUndisturbed(scene, expected, outstanding === true);
    table.push(line(name, [...counts, ((performance.now() - began) / 1000).toFixed(1)]));
  } finally {
    await doomed.stop();
    await scene.close();
  }
}

describe.concurrent('a process that is killed leaves one decision, one transition, one event', () => {
  table.push(line('killed at', ['decisions', 'transitions', 'events', 'delivered', 'seconds']));
  it.each(CASES.map((each, n) => [each.name, each, n] as const))('%s', async (_name, each, n) => {
    await runCase(each, n);
  });
});
