import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PlanAnswer, PlanRequest } from '../../src/app/plan/requests.js';
import { PlanRefusedError } from '../../src/app/plan/service.js';
import { createAggregator, type FleetEngine, openFleet } from '../../src/compose.js';
import type { Chunk } from '../../src/core/manifest.js';
import type { PlanStore } from '../../src/ports/plans.js';
import { checkResult, packOf } from '../support/evidence.js';
import { configWith, openTestFleet, silent, type TestFleet } from '../support/fleet.js';
import { type PlanProcess, type PlanReply, startPlanProcess } from '../support/plan-fleet.js';
import {
  AGENT,
  attach,
  eventsOfPlan,
  type PlanPlace,
  placeOf,
  register,
  saying,
  settled,
  verdictsOf,
} from '../support/plan-play.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const R = 'repo/app';
const snapshots = (tests: string) => ({ [R]: { tests } });
const actor = AGENT;
type Fix = Extract<PlanRequest, { type: 'fix' | 'executed' }>;
const fixOf = (command: string, more: Partial<Fix> = {}): Fix => ({
  type: 'fix',
  plan: 'p',
  command,
  snapshots: snapshots('pass'),
  actor,
  ...more,
});

let redis: TestRedis;
let fleet: TestFleet;
const opened: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A new fleet in which `tests` is attached; its roles, where it has any, run in this process. */
async function openPlace(roles: ('worker' | 'aggregator')[] = ['worker', 'aggregator']): Promise<PlanPlace> {
  fleet = await openTestFleet(redis.url, configWith(), roles);
  opened.push(() => fleet.close());
  const place = placeOf(fleet.engine);
  await register(place, [saying('tests'), saying('lint')]);
  await attach(place, R, ['tests']);
  return place;
}

/** The same fleet over connections of its own. */
async function another(): Promise<FleetEngine> {
  const engine = await openFleet(configWith({ fleet: fleet.engine.config.fleet }), redis.url, silent);
  opened.push(() => engine.close());
  return engine;
}

async function process(): Promise<PlanProcess> {
  const settings = { fleet: fleet.engine.config.fleet };
  const started = await startPlanProcess({ settings, url: redis.url });
  opened.push(() => started.stop());
  return started;
}

/** The same place, where `first` happens right before the first call of a method of the plans' store. */
function preceded(
  { engine }: PlanPlace,
  method: 'command' | 'step',
  first: () => Promise<unknown>,
): PlanPlace {
  let called = false;
  const plans = new Proxy(engine.store.plans, {
    get(store, name: keyof PlanStore) {
      const own = store[name].bind(store) as (...args: unknown[]) => unknown;
      if (name !== method) return own;
      return async (...args: unknown[]) => {
        if (!called) {
          called = true;
          await first();
        }
        return own(...args);
      };
    },
  });
  return placeOf({ ...engine, store: { ...engine.store, plans } });
}

const refusal = (run: Promise<PlanAnswer>): Promise<PlanRefusedError> =>
  run.then(
    ({ row }) => Promise.reject(new Error(`it was taken: ${row}`)),
    (error: unknown) => {
      if (error instanceof PlanRefusedError) return error;
      throw error;
    },
  );
const codesOf = ({ problems }: PlanRefusedError) => problems.map(({ code }) => code);

async function inFix(place: PlanPlace): Promise<void> {
  await place.plans.run({ type: 'submit', plan: 'p', command: 'c0', snapshots: snapshots('fail'), actor });
  expect(await settled(place.engine.store, 'p')).toMatchObject({ phase: 'fix', revision: 2 });
}

const rowsOf = async ({ plans }: PlanPlace, plan = 'p') =>
  (await plans.status(plan)).timeline.map(({ row }) => row);

describe('two agents that submit a fix at once', () => {
  it('make one transition; the other gets the plan as it stands', async () => {
    const place = await openPlace();
    await inFix(place);
    const processes = await Promise.all([process(), process()]);
    const replies = await Promise.all(
      processes.map((each, n) => each.ask({ run: fixOf(`c${n + 1}`, { actor: `agent-${n}` }) })),
    );
    const [taken, refused] = replies.sort((a, b) => Number(b.ok) - Number(a.ok));
    expect(taken).toMatchObject({ ok: true, repeated: false, row: 'fix' });
    expect(refused).toMatchObject({ ok: false, code: 'PLAN_REFUSED' });
    expect(refused?.plan?.revision).toBeGreaterThanOrEqual(3);
    expect(await settled(place.engine.store, 'p')).toMatchObject({ phase: 'ready', fixes: 1 });
    expect(await rowsOf(place)).toEqual(['submit', 'failed-fix', 'fix', 'passed']);
  });

  it('make one transition even when the first was judged and failed before the second was saved', async () => {
    const place = await openPlace();
    await inFix(place);
    const slow = preceded(place, 'step', async () => {
      await place.plans.run(fixOf('c1', { snapshots: snapshots('fail') }));
      await settled(place.engine.store, 'p');
    });
    const refused = await refusal(slow.plans.run(fixOf('c2')));
    expect(codesOf(refused)).toEqual(['STALE']);
    expect(refused.plan).toMatchObject({ phase: 'fix', revision: 4, fixes: 1 });
    expect(await rowsOf(place)).toEqual(['submit', 'failed-fix', 'fix', 'failed-fix']);
  });

  it('are refused with the revision that stands when theirs is stale', async () => {
    const place = await openPlace();
    await inFix(place);
    for (const revision of [0, 1, 3]) {
      const refused = await refusal(place.plans.run(fixOf('c1', { revision })));
      expect(codesOf(refused)).toEqual(['STALE']);
      expect(refused.plan).toMatchObject({ phase: 'fix', revision: 2 });
      expect(refused.message).toContain('at revision 2');
    }
    expect(await rowsOf(place)).toHaveLength(2);
    expect(await place.plans.run(fixOf('c1', { revision: 2 }))).toMatchObject({ row: 'fix' });
    // What was taken is answered again, although the revision has moved on since.
    expect(await place.plans.run(fixOf('c1', { revision: 2 }))).toMatchObject({ repeated: true });
  });
});

describe('the same command at once', () => {
  it('from two processes is one transition; both get an answer, one of them as repeated', async () => {
    const place = await openPlace();
    const processes = await Promise.all([process(), process()]);
    for (let round = 0; round < 10; round += 1) {
      const plan = `p${round}`;
      const run = { type: 'submit' as const, plan, command: 'c', snapshots: snapshots('pass'), actor };
      const replies = await Promise.all(processes.map((each) => each.ask({ run })));
      const repeated = replies.map((reply) => (reply as Extract<PlanReply, { ok: true }>).repeated);
      expect(repeated.sort()).toEqual([false, true]);
      expect(await settled(place.engine.store, plan)).toMatchObject({ phase: 'ready', revision: 2 });
      expect(await rowsOf(place, plan)).toEqual(['submit', 'passed']);
    }
  });

  it('is answered with what it made of the plan, however the two overlap', async () => {
    const place = await openPlace([]);
    for (const method of ['command', 'step'] as const) {
      const plan = `p-${method}`;
      await place.plans.run({ type: 'create', plan, command: 'c0', resources: [R], actor });
      const command: PlanRequest = { type: 'strategized', plan, command: 'c1', actor };
      const other = preceded(place, method, () => place.plans.run(command));
      const answer = await other.plans.run(command);
      expect(answer).toMatchObject({ repeated: true, plan: { phase: 'execute', revision: 2 } });
      expect(await rowsOf(place, plan)).toEqual(['create', 'strategized']);
    }
  });

  it('enqueues what was accepted, not what the other would have asked for', async () => {
    const place = await openPlace();
    const { engine } = place;
    const lost = { enqueue: async () => {}, isAlive: async () => true, close: async () => {} };
    const dying = placeOf({ ...engine, queue: lost });
    const run: PlanRequest = { type: 'submit', plan: 'p', command: 'c', snapshots: snapshots('pass'), actor };
    // It saw one validation, and the one that came first saw two and died before it enqueued anything.
    const other = preceded(place, 'step', async () => {
      await attach(place, R, ['lint']);
      await dying.plans.run(run);
    });
    expect(await other.plans.run(run)).toMatchObject({ repeated: true });
    expect(await settled(engine.store, 'p')).toMatchObject({ phase: 'ready' });
    const { evaluations } = await place.plans.status('p');
    expect(evaluations.map(({ results }) => results.map(({ outcome }) => outcome))).toEqual([
      ['pass', 'pass'],
    ]);
  });

  it('with other content is a conflict, at once or later', async () => {
    const place = await openPlace([]);
    const run = (value: string): PlanRequest => ({
      type: 'submit',
      plan: 'p',
      command: 'c',
      snapshots: snapshots(value),
      actor,
    });
    const other = preceded(place, 'step', () => place.plans.run(run('pass')));
    await expect(other.plans.run(run('fail'))).rejects.toMatchObject({ code: 'COMMAND_CONFLICT' });
    await expect(place.plans.run(run('fail'))).rejects.toMatchObject({ code: 'COMMAND_CONFLICT' });
    expect(await rowsOf(place)).toEqual(['submit']);
  });
});

/** A plan that waits for an evaluation whose results are in; nobody but the test decides it. */
async function judgedPlan(place: PlanPlace, plan: string): Promise<Chunk> {
  const { store } = place.engine;
  await place.plans.run({ type: 'submit', plan, command: 'c0', snapshots: snapshots('pass'), actor });
  const evaluation = (await store.plans.plan(plan))?.awaits?.evaluation ?? '';
  await store.evaluations.record(evaluation, packOf(0, 0, [checkResult('pass')]));
  return (await store.evaluations.chunk(evaluation))?.chunk as Chunk;
}

describe('a plan that is cancelled while its evaluation is decided', () => {
  it('is decided once and cancelled, in either order, 50 times', async () => {
    const place = await openPlace([]);
    const { store } = place.engine;
    const deciders = [createAggregator(await another()), createAggregator(await another())];
    const canceller = placeOf(await another()).plans;
    const orders: Record<string, number> = {};
    for (let round = 0; round < 50; round += 1) {
      const plan = `p${round}`;
      const chunk = await judgedPlan(place, plan);
      const cancel = () => canceller.run({ type: 'cancel', plan, command: 'c1', actor });
      const decide = () => Promise.all(deciders.map((each) => each.decide(chunk.id)));
      // Half of the rounds give the cancellation a head start of up to a few round trips.
      const lead = async () => {
        for (let n = 0; n < round % 10; n += 1) await store.outbox.lastEvent();
      };
      const started = round % 2 === 0 ? [cancel(), lead().then(decide)] : [decide(), lead().then(cancel)];
      await Promise.all(started);

      const { plan: state, timeline } = await place.plans.status(plan);
      const order = timeline.map(({ row }) => row).join(', ');
      orders[order] = (orders[order] ?? 0) + 1;
      expect(['submit, cancel', 'submit, passed, cancel']).toContain(order);
      expect(state).toMatchObject({ phase: 'cancelled', awaits: null });
      const [decision, ...more] = await store.evaluations.decisions(chunk.id);
      expect(more).toEqual([]);
      const wins = order === 'submit, cancel' ? 'cancelled' : 'passed';
      expect(JSON.parse(decision?.decision ?? '{}')).toMatchObject({ status: wins });
      const events = await eventsOfPlan(store, plan);
      const verdict = wins === 'passed' ? 'evaluation.passed' : 'evaluation.failed';
      expect(verdictsOf(events)).toEqual({ [chunk.id]: [verdict] });
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    }
    // Both orders came up, or the test would show nothing.
    expect(Object.keys(orders).sort()).toEqual(['submit, cancel', 'submit, passed, cancel']);
    expect(await store.evaluations.dueChunks(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });

  it('keeps a decision that it no longer waits for, and is not moved by it', async () => {
    const place = await openPlace([]);
    const { store } = place.engine;
    const chunk = await judgedPlan(place, 'p');
    const slow = preceded(place, 'step', () =>
      place.plans.run({ type: 'cancel', plan: 'p', command: 'c1', actor }),
    );
    await createAggregator(slow.engine).decide(chunk.id);
    expect(await rowsOf(place)).toEqual(['submit', 'cancel']);
    const decisions = await store.evaluations.decisions(chunk.id);
    expect(decisions.map(({ decision }) => JSON.parse(decision).status)).toEqual(['cancelled']);
    expect(Object.values(verdictsOf(await eventsOfPlan(store, 'p')))).toEqual([['evaluation.failed']]);
  });

  it('is decided once by two aggregators at once', async () => {
    const place = await openPlace([]);
    const deciders = [createAggregator(await another()), createAggregator(await another())];
    for (let round = 0; round < 10; round += 1) {
      const chunk = await judgedPlan(place, `p${round}`);
      await Promise.all(deciders.map((each) => each.decide(chunk.id)));
      expect(await rowsOf(place, `p${round}`)).toEqual(['submit', 'passed']);
      const events = await eventsOfPlan(place.engine.store, `p${round}`);
      expect(verdictsOf(events)).toEqual({ [chunk.id]: ['evaluation.passed'] });
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    }
  });
});

/** One that no process has to start an interpreter for. */
const plain = (name: string) => ({ name, command: ['true'], read_only: true });

describe('the registry', () => {
  it('takes every change, however many processes make them at once', async () => {
    const place = await openPlace([]);
    const processes = await Promise.all([process(), process()]);
    const replies = await Promise.all(
      processes.flatMap((each, p) =>
        Array.from({ length: 6 }, async (_, n) => {
          const name = `v${p}-${n}`;
          const registered = await each.ask({ register: [plain(name), plain(`${name}-too`)] });
          const attached = await each.ask({ attach: { resource: R, validation: name, arguments: {} } });
          return [registered, attached];
        }),
      ),
    );
    expect(replies.flat().every(({ ok }) => ok)).toBe(true);
    // 2 + 12 * 2 documents, 1 + 12 attachments, and a revision for each change.
    expect(await place.registry.entries('validation')).toHaveLength(26);
    const attachments = await place.registry.attachments({ resource: R });
    expect(new Set(attachments.map(({ id }) => id)).size).toBe(13);
    expect((await place.engine.store.registry.read()).revision).toBe(2 + 24);
  });

  it('gates what was attached while a plan was submitted: judged with it, or again before it is applied', async () => {
    const place = await openPlace();
    const { store } = place.engine;
    const attacher = placeOf(await another());
    const seen = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const resource = `repo/r${round}`;
      const plan = `p${round}`;
      const given = { [resource]: { tests: 'pass', lint: 'pass' } };
      const lead = async (steps: number) => {
        for (let n = 0; n < steps; n += 1) await store.outbox.lastEvent();
      };
      await Promise.all([
        lead(round % 4).then(() =>
          place.plans.run({ type: 'submit', plan, command: 'c0', snapshots: given, actor }),
        ),
        attacher.registry.attach({ resource, validation: 'lint', arguments: {} }, actor),
      ]);
      await settled(store, plan);
      const first = await place.plans.run({ type: 'apply', plan, command: 'c1', snapshots: given, actor });
      if (first.row !== 'apply') {
        await settled(store, plan);
        await place.plans.run({ type: 'apply', plan, command: 'c2', snapshots: given, actor });
      }
      const { timeline, evaluations, plan: state } = await place.plans.status(plan);
      seen.add(timeline.map(({ row }) => row).join(', '));
      expect(state.phase).toBe('applied');
      const judged = evaluations.at(-1)?.results.map(({ validation, outcome }) => [validation, outcome]);
      expect(judged).toEqual([['local/lint', 'pass']]);
    }
    const both = ['submit, passed, apply', 'submit, passed, apply-changed, passed, apply'];
    expect(both).toEqual(expect.arrayContaining([...seen]));
  });
});
