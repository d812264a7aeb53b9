import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PHASES, TERMINAL_PHASES } from '../../src/core/plan/model.js';
import type { PlanStep } from '../../src/ports/plans.js';
import type { Store } from '../../src/ports/store.js';
import { openMemoryStore } from '../../src/store/memory/index.js';
import { openRedisStore } from '../../src/store/redis/index.js';
import { checkResult, event, packOf } from '../support/evidence.js';
import { acceptOf, cancelledOf, decisionOf, HOUR, NOW, seen, stepOf } from '../support/plan-steps.js';
import { useTestRedis } from '../support/use-redis.js';

const CAP = 12;

const redis = useTestRedis();

const validating = { phase: 'validate', awaits: { evaluation: 'e-0', stage: 'all' } } as const;

describe('plans in Redis', () => {
  let fleet: string;
  let store: Store;
  beforeEach(async () => {
    fleet = `f${randomBytes(4).toString('hex')}`;
    store = await openRedisStore({ url: redis.url, fleet, outboxCap: CAP });
    onTestFinished(() => store.close());
  });

  const take = async (...steps: PlanStep[]) => {
    for (const step of steps) expect(await store.plans.step(step)).toEqual({ done: true });
  };
  /** Milliseconds to live by key, without the fleet's prefix; -1 for ever. */
  const lives = async (): Promise<Record<string, number>> => {
    const keys = (await redis.client.keys(`${fleet}:*`)).sort();
    const left = await Promise.all(keys.map((key) => redis.client.pttl(key)));
    return Object.fromEntries(keys.map((key, i) => [key.slice(fleet.length + 5), left[i] as number]));
  };
  const submitted = (more = {}) => stepOf(0, { to: validating, accept: acceptOf('p', 'e'), ...more });
  const failed = (more = {}) => stepOf(1, { to: { phase: 'fix' }, decision: decisionOf('e-0'), ...more });

  it('never expire while they live, nor do their evaluations and results', async () => {
    await take(submitted(), failed({ retentionMs: 5_000 }));
    const { 'blob:evidence of e': evidence, ...kept } = await lives();
    expect(evidence).toBeGreaterThan(0);
    expect(kept).toEqual(
      Object.fromEntries(
        ['chunk:e-0', 'eval:e-0', 'outbox', 'plan-chunks:p', 'plan-log:p', 'plan:p', 'plans', 'rs:e-0:s'].map(
          (key) => [key, -1],
        ),
      ),
    );
  });

  it('keep everything of an ended plan for its retention, and nothing for longer', async () => {
    await take(submitted(), failed({ to: validating, accept: acceptOf('p', 'f') }));
    await take(stepOf(2, { decision: cancelledOf('f-0'), to: { phase: 'cancelled' }, retentionMs: 30_000 }));
    for (const [key, left] of Object.entries(await lives())) {
      if (['outbox', 'plans', 'plans:ended'].includes(key) || key.startsWith('blob:')) continue;
      expect([key, left > 0 && left <= 30_000]).toEqual([key, true]);
    }
  });

  it('take the members of expired plans out of the indexes', async () => {
    await take(submitted({ to: { phase: 'failed' }, accept: null, retentionMs: 1 }));
    await vi.waitFor(async () => expect(await store.plans.plan('p')).toBeUndefined(), { interval: 5 });
    await take(stepOf(0, { plan: 'q' }));
    expect(await redis.client.zrange(`${fleet}:{0}:plans`, '0', '-1')).toEqual(['q']);
    expect(await lives()).not.toHaveProperty('plans:ended');
  });

  it('lease evidence until the deadline and the retention are over; a lease is never shortened', async () => {
    const left = async () => (await lives())['blob:evidence of e'] ?? 0;
    const asking = (id: string, deadline: number): PlanStep => {
      const accept = acceptOf(id, 'e');
      return stepOf(0, { plan: id, accept: { ...accept, chunk: { ...accept.chunk, id, deadline } } });
    };
    await take(asking('short', NOW + HOUR));
    expect(await left()).toBeGreaterThan(2 * HOUR - 60_000);
    expect(await left()).toBeLessThanOrEqual(2 * HOUR);
    await take(asking('long', NOW + 3 * HOUR));
    expect(await left()).toBeGreaterThan(4 * HOUR - 60_000);
    await take(asking('again', NOW + HOUR));
    expect(await left()).toBeGreaterThan(4 * HOUR - 60_000);
  });

  it('keep no results of a step that was refused, and those in use for good', async () => {
    await take(submitted(), failed());
    await store.plans.step(failed({ decision: decisionOf('e-0', 'other') }));
    await store.plans.step(stepOf(2, { decision: decisionOf('e-0', 'third') }));
    await store.plans.step(failed({ decision: decisionOf('nobody-0') }));
    await store.plans.step(failed({ decision: decisionOf('e-0') }));
    const staged = Object.entries(await lives()).filter(([key]) => key.startsWith('rs:'));
    expect(staged).toEqual([['rs:e-0:s', -1]]);
  });

  it('write nothing by halves when the memory of Redis is used up', async () => {
    await take(submitted(), stepOf(0, { plan: 'q' }));
    const steps = {
      'a decision': failed({ to: validating, accept: acceptOf('p', 'f') }),
      'a decision without results': failed({ decision: cancelledOf('e-0') }),
      'a decision alone': failed({ to: null, decision: cancelledOf('e-0') }),
      'an evaluation': stepOf(1, { plan: 'q', command: 'c', accept: acceptOf('q', 'f') }),
      'a transition': stepOf(1, { plan: 'q', command: 'c' }),
    };
    const before = await seen(store, ['p', 'q'], ['e-0', 'f-0']);
    for (const [name, step] of Object.entries(steps)) {
      await redis.client.config('SET', 'maxmemory', '1');
      await expect(store.plans.step(step), name).rejects.toThrow(/OOM/);
      await redis.client.config('SET', 'maxmemory', '0');
      expect(await seen(store, ['p', 'q'], ['e-0', 'f-0']), name).toEqual(before);
    }
    await take(steps['a decision'], steps['an evaluation']);
  });

  it('stand under ids that look like the keys of others', async () => {
    await take(stepOf(0, { plan: 'p' }), stepOf(0, { plan: 'p:log' }), stepOf(0, { plan: 'due' }));
    await take(stepOf(1, { plan: 'p', to: { deadline: NOW } }));
    expect((await store.plans.plans({ limit: 9 })).map(({ id }) => id)).toEqual(['p:log', 'p', 'due']);
    expect(await store.plans.due(NOW, 9)).toEqual(['p']);
    expect((await store.plans.log('p:log')).map(({ revision }) => revision)).toEqual([1]);
  });
});

/** A step in random terms: made concrete by what stands when its turn comes. */
const action = fc.record({
  plan: fc.constantFrom('p', 'q', 'r'),
  off: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) }),
  command: fc.option(fc.constantFrom('c', 'd', 'e', 'f', 'g', 'h'), { nil: undefined }),
  phase: fc.option(fc.constantFrom(...PHASES), { freq: 5 }),
  project: fc.constantFrom(null, 'web'),
  deadline: fc.option(fc.integer({ min: NOW, max: NOW + 2 * HOUR })),
  age: fc.integer({ min: 0, max: 3 }),
  accept: fc.boolean(),
  decide: fc.option(fc.record({ at: fc.nat(), cancelled: fc.boolean(), stage: fc.constantFrom('s', 't') })),
  record: fc.option(fc.nat()),
  events: fc.integer({ min: 0, max: 2 }),
  trim: fc.nat({ max: 9 }).map((n) => n === 0),
});
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

describe('plans in memory and in Redis', () => {
  /** What both stores are asked; names every evaluation and event by the place of the step. */
  async function concrete(
    model: Store,
    a: Action,
    n: number,
    evaluations: readonly string[],
  ): Promise<PlanStep> {
    const stands = await model.plans.plan(a.plan);
    const expected = Math.max(0, (stands?.revision ?? 0) + a.off);
    const over = stands !== undefined && TERMINAL_PHASES.has(stands.phase);
    const moves = a.phase !== null && !over;
    const chunk = a.decide === null ? undefined : evaluations[a.decide.at % (evaluations.length + 1)];
    const made = a.decide?.cancelled ? cancelledOf : decisionOf;
    return stepOf(expected, {
      plan: a.plan,
      to: moves
        ? { phase: a.phase ?? 'fix', project: a.project, deadline: a.deadline, createdAt: NOW + a.age }
        : null,
      ...(a.command === undefined ? {} : { command: a.command }),
      decision: chunk === undefined ? null : made(chunk, a.decide?.stage),
      accept: moves && a.accept ? acceptOf(a.plan, `e${n}`, NOW + n) : null,
      events: Array.from({ length: a.events }, (_, i) => event(`${n}.${i}`)),
    });
  }

  it('answer alike and look alike, whatever steps come', async () => {
    const answers = new Map<string, number>();
    const compare = async (actions: readonly Action[]) => {
      const fleet = `f${randomBytes(4).toString('hex')}`;
      const stores: [Store, Store] = [
        openMemoryStore({ outboxCap: 5 }),
        await openRedisStore({ url: redis.url, fleet, outboxCap: 5 }),
      ];
      const both = async <T>(ask: (store: Store) => Promise<T>): Promise<T> => {
        const [inMemory, inRedis] = await Promise.all(stores.map(ask));
        expect(inRedis).toEqual(inMemory);
        return inMemory as T;
      };
      const evaluations: string[] = [];
      try {
        for (const [n, a] of actions.entries()) {
          const step = await concrete(stores[0], a, n, evaluations);
          const answer = await both((store) => store.plans.step(step));
          const word = answer.done ? 'done' : answer.reason;
          answers.set(word, (answers.get(word) ?? 0) + 1);
          if (answer.done && step.accept !== null) evaluations.push(step.accept.chunk.id);
          const recorded = a.record === null ? undefined : evaluations[a.record % (evaluations.length + 1)];
          if (recorded !== undefined) {
            await both((store) => store.evaluations.record(recorded, packOf(0, n, [checkResult('pass')])));
          }
          if (a.command !== undefined) {
            await both((store) => store.plans.command(a.plan, a.command as string));
          }
          if (n % 5 === 0 || n === actions.length - 1) {
            await both((store) => seen(store, ['p', 'q', 'r'], evaluations));
          }
          if (a.trim) for (const store of stores) await store.outbox.trim(Date.now(), HOUR, 1);
        }
      } finally {
        for (const store of stores) await store.close();
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40, size: 'max' }), compare),
      {
        numRuns: 40,
      },
    );
    for (const word of ['done', 'repeated', 'stale', 'decided', 'outbox_full']) {
      expect([word, (answers.get(word) ?? 0) > 0]).toEqual([word, true]);
    }
  });
});
