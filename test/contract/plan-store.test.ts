import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Phase, PlanState } from '../../src/core/plan/model.js';
import type { PlanStep, PlanStepAnswer } from '../../src/ports/plans.js';
import type { Store } from '../../src/ports/store.js';
import { checkResult, event, packOf } from '../support/evidence.js';
import {
  acceptOf,
  cancelledOf,
  decisionOf,
  HOUR,
  NOW,
  type StepOptions,
  seen,
  stepOf,
} from '../support/plan-steps.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { storeAdapters } from '../support/stores.js';

const CAP = 12;

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

const adapters = storeAdapters(() => redis, CAP);

describe.each(adapters)('plans on $name', ({ open }) => {
  let store: Store;
  beforeEach(async () => {
    store = await open();
  });
  afterEach(() => store.close());

  const outboxIds = async () => (await store.outbox.events('', 1000, 0)).map(({ event: e }) => e.id);
  const all = () => seen(store, ['p', 'q'], ['e-0', 'f-0']);
  /** Steps that must be taken. */
  const take = async (...steps: PlanStep[]) => {
    for (const step of steps) expect(await store.plans.step(step)).toEqual({ done: true });
  };
  /** A step that must be refused, and write nothing. */
  const refused = async (step: PlanStep, answer: Exclude<PlanStepAnswer, { done: true }>) => {
    const before = await all();
    expect(await store.plans.step(step)).toEqual(answer);
    expect(await all()).toEqual(before);
  };
  const validating = { phase: 'validate', awaits: { evaluation: 'e-0', stage: 'all' } } as const;
  const submitted = (more: StepOptions = {}) =>
    stepOf(0, { to: validating, accept: acceptOf('p', 'e'), command: 'submit', ...more });

  describe('a step', () => {
    it('makes a plan with state, history, command and events', async () => {
      const step = stepOf(0, { command: 'c', events: [event('e1'), event('e2')] });
      await take(step);
      expect(await store.plans.plan('p')).toEqual(step.next?.state);
      expect(await store.plans.log('p')).toEqual([step.next?.log]);
      expect(await store.plans.command('p', 'c')).toEqual({ revision: 1, digest: 'digest of c' });
      expect(await outboxIds()).toEqual(['e1', 'e2']);
    });

    it('leaves nothing of a plan that was never made', async () => {
      expect(await store.plans.plan('p')).toBeUndefined();
      expect(await store.plans.log('p')).toEqual([]);
      expect(await store.plans.command('p', 'c')).toBeUndefined();
      expect(await store.plans.plans({ limit: 10 })).toEqual([]);
      expect(await store.plans.due(NOW, 10)).toEqual([]);
    });

    it('appends to the history in order of revision', async () => {
      await take(
        stepOf(0),
        stepOf(1, { to: { phase: 'execute' } }),
        stepOf(2, { to: { phase: 'validate' } }),
      );
      expect((await store.plans.log('p')).map(({ revision, to }) => [revision, to])).toEqual([
        [1, 'strategize'],
        [2, 'execute'],
        [3, 'validate'],
      ]);
    });

    it('knows a command that it took, whatever came after it and whatever it says now', async () => {
      await take(stepOf(0, { command: 'c' }), stepOf(1, { command: 'd' }));
      const repeated = { done: false, reason: 'repeated', revision: 1, digest: 'digest of c' } as const;
      await refused(stepOf(0, { command: 'c' }), repeated);
      await refused(stepOf(2, { command: 'c' }), repeated);
      await refused({ ...stepOf(2), command: { id: 'c', digest: 'another' } }, repeated);
      await take(stepOf(2, { command: 'e' }));
    });

    it('remembers commands for each plan by itself', async () => {
      await take(stepOf(0, { command: 'c' }), stepOf(0, { command: 'c', plan: 'q' }));
      expect(await store.plans.command('q', 'c')).toEqual({ revision: 1, digest: 'digest of c' });
    });

    it('refuses another revision than the one that stands, and gives that back', async () => {
      await refused(stepOf(1), { done: false, reason: 'stale', state: undefined });
      const first = stepOf(0);
      await take(first);
      const stale = { done: false, reason: 'stale', state: first.next?.state } as const;
      await refused(stepOf(0, { command: 'c' }), stale);
      await refused(stepOf(2, { accept: acceptOf('p', 'e') }), stale);
    });

    it('lets one of many at the same revision win', async () => {
      await take(stepOf(0));
      const steps = Array.from({ length: 8 }, (_, n) =>
        stepOf(1, {
          command: `c${n}`,
          to: { ...validating, guidance: `${n}` },
          accept: acceptOf('p', `n${n}`),
          events: [event(`from ${n}`)],
        }),
      );
      const answers = await Promise.all(steps.map((step) => store.plans.step(step)));
      const winner = answers.findIndex(({ done }) => done);
      const state = steps[winner]?.next?.state;
      expect(answers.filter((_, n) => n !== winner)).toEqual(
        Array(7).fill({ done: false, reason: 'stale', state }),
      );
      expect(await store.plans.plan('p')).toEqual(state);
      expect(await store.plans.log('p')).toHaveLength(2);
      expect(await outboxIds()).toEqual(['p-1', `from ${winner}`]);
      expect(await store.evaluations.dueChunks(NOW, 10)).toEqual([`n${winner}-0`]);
    });

    it('takes one command once, however often it is sent at the same time', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => store.plans.step(submitted())));
      expect(answers.filter(({ done }) => done)).toHaveLength(1);
      expect(answers.filter((answer) => !answer.done && answer.reason === 'repeated')).toHaveLength(7);
      expect(await outboxIds()).toEqual(['p-1']);
    });

    it('carries a state of a megabyte', async () => {
      const guidance = 'x'.repeat(1024 * 1024);
      await take(stepOf(0, { to: { guidance } }));
      expect((await store.plans.plan('p'))?.guidance).toBe(guidance);
      expect(await store.plans.step(stepOf(0))).toMatchObject({ reason: 'stale', state: { guidance } });
    });

    it('holds nothing that the caller changes afterwards', async () => {
      const step = stepOf(0);
      await take(step);
      (step.next as { state: PlanState }).state.failing.push('x');
      (await store.plans.plan('p'))?.failing.push('y');
      expect((await store.plans.plan('p'))?.failing).toEqual([]);
    });
  });

  describe('an evaluation that is asked for', () => {
    it('stands with manifest, evidence, place and time of its check', async () => {
      const { chunk, blobs } = acceptOf('p', 'e');
      await take(submitted({ accept: acceptOf('p', 'e', NOW + 30) }));
      expect(await store.evaluations.chunk('e-0')).toEqual({ chunk, generation: 1 });
      expect(await store.evaluations.locate(['e-0'])).toEqual([{ chunk: 'e-0', position: 0 }]);
      expect(await store.evaluations.blobs(blobs.map(({ digest }) => digest))).toEqual(['content of e']);
      expect(await store.evaluations.dueChunks(NOW + 29, 10)).toEqual([]);
      expect(await store.evaluations.dueChunks(NOW + 30, 10)).toEqual(['e-0']);
      expect(await store.evaluations.decisions('e-0')).toEqual([]);
    });

    it('takes results and a raised generation like any other', async () => {
      await take(submitted());
      const pack = packOf(0, 0, [checkResult('pass')]);
      expect(await store.evaluations.record('e-0', pack)).toBe('stored');
      expect(await store.evaluations.recorded('e-0')).toEqual([pack]);
      expect(await store.evaluations.raiseGeneration('e-0', 1, NOW + 50)).toBe(2);
      expect(await store.evaluations.raiseGeneration('e-0', 1, NOW + 50)).toBeUndefined();
      expect(await store.evaluations.dueChunks(NOW + 49, 10)).toEqual([]);
    });

    it('is not taken in by a command while the outbox is full; all else is', async () => {
      const many = Array.from({ length: CAP }, (_, i) => event(`e${i}`));
      await take(submitted({ events: many }));
      const full = { done: false, reason: 'outbox_full' } as const;
      await refused(stepOf(0, { plan: 'q', command: 'c', accept: acceptOf('q', 'f') }), full);
      await take(stepOf(0, { plan: 'q', command: 'c' }));
      await take(stepOf(1, { to: validating, decision: decisionOf('e-0'), accept: acceptOf('p', 'f') }));
      const next = stepOf(1, { plan: 'q', command: 'd', accept: acceptOf('q', 'g') });
      await refused(next, full);
      await store.outbox.trim(Date.now(), HOUR, 2);
      await take(next);
    });
  });

  describe('a decision', () => {
    const failed = (more: StepOptions = {}) =>
      stepOf(1, {
        to: { phase: 'fix', lastEvaluation: 'e-0' },
        log: { decided: 'e-0' },
        decision: decisionOf('e-0'),
        events: [event('evaluation-failed'), event('retry-requested')],
        ...more,
      });

    it('stands with its results and ends the evaluation, in one step with the transition', async () => {
      await take(submitted());
      await store.evaluations.record('e-0', packOf(0, 0, [checkResult('fail')]));
      await take(failed());
      expect(await store.evaluations.decisions('e-0')).toEqual([
        { position: 0, decision: decisionOf('e-0').json, results: 'results s' },
      ]);
      expect(await store.evaluations.decisions('e-0', [0])).toHaveLength(1);
      expect((await store.plans.plan('p'))?.phase).toBe('fix');
      expect(await outboxIds()).toEqual(['p-1', 'evaluation-failed', 'retry-requested']);
      expect(await store.evaluations.recorded('e-0')).toEqual([]);
      expect(await store.evaluations.dueChunks(NOW + HOUR, 10)).toEqual([]);
      expect(await store.evaluations.raiseGeneration('e-0', 1, NOW)).toBeUndefined();
      expect(await store.evaluations.record('e-0', packOf(0, 0, [checkResult('pass')]))).toBe('late');
      expect(await store.evaluations.recorded('e-0')).toEqual([]);
    });

    it('may ask for the next evaluation in the same step', async () => {
      await take(submitted());
      const next = { ...validating, awaits: { evaluation: 'f-0', stage: 'rest' } } as const;
      await take(failed({ to: next, accept: acceptOf('p', 'f') }));
      expect(await store.evaluations.dueChunks(NOW, 10)).toEqual(['f-0']);
      await take({ ...failed(), ...stepOf(2, { to: { phase: 'ready' }, decision: decisionOf('f-0', 't') }) });
      expect((await store.evaluations.decisions('f-0'))[0]?.results).toBe('results t');
      expect((await store.evaluations.decisions('e-0'))[0]?.results).toBe('results s');
    });

    it('comes back as stale when it is sent again after its answer was lost, and keeps its results', async () => {
      await take(submitted(), failed());
      await refused(failed(), { done: false, reason: 'stale', state: failed().next?.state as PlanState });
    });

    it('is never touched once it stands: nothing of the step is written', async () => {
      await take(submitted(), failed());
      const decided = { done: false, reason: 'decided' } as const;
      await refused(stepOf(2, { decision: decisionOf('e-0', 'other'), accept: acceptOf('p', 'f') }), decided);
      await refused(stepOf(2, { decision: decisionOf('e-0') }), decided);
      await refused(stepOf(2, { to: null, decision: cancelledOf('e-0') }), decided);
      await refused(stepOf(2, { decision: decisionOf('nobody-0') }), decided);
    });

    it('can be written alone, when the plan no longer waits for it', async () => {
      await take(submitted());
      const alone = stepOf(1, { to: null, decision: decisionOf('e-0'), events: [event('failed')] });
      const before = await store.plans.plan('p');
      await take(alone);
      expect(await store.plans.plan('p')).toEqual(before);
      expect(await store.plans.log('p')).toHaveLength(1);
      expect((await store.evaluations.decisions('e-0'))[0]?.results).toBe('results s');
      expect(await outboxIds()).toEqual(['p-1', 'failed']);
      await refused(alone, { done: false, reason: 'decided' });
    });

    it('has no results where the evaluation was cancelled; what comes later is late', async () => {
      await take(submitted());
      await store.evaluations.record('e-0', packOf(0, 0, [checkResult('fail')]));
      await take(stepOf(1, { command: 'cancel', to: { phase: 'cancelled' }, decision: cancelledOf('e-0') }));
      expect(await store.evaluations.decisions('e-0')).toEqual([
        { position: 0, decision: cancelledOf('e-0').json, results: '{}' },
      ]);
      expect(await store.evaluations.record('e-0', packOf(0, 1, [checkResult('pass')]))).toBe('late');
      expect(await store.evaluations.recorded('e-0')).toEqual([]);
      expect(await store.evaluations.dueChunks(NOW + HOUR, 10)).toEqual([]);
      await refused(stepOf(2, { to: null, decision: decisionOf('e-0') }), { done: false, reason: 'decided' });
    });

    it('is one when many write it at the same time', async () => {
      await take(submitted());
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          store.plans.step(failed({ decision: decisionOf('e-0', `s${n}`), events: [event(`from ${n}`)] })),
        ),
      );
      const winner = answers.findIndex(({ done }) => done);
      expect(answers.filter(({ done }) => done)).toHaveLength(1);
      expect(await store.evaluations.decisions('e-0')).toEqual([
        { position: 0, decision: decisionOf('e-0', `s${winner}`).json, results: `results s${winner}` },
      ]);
      expect(await outboxIds()).toEqual(['p-1', `from ${winner}`]);
    });
  });

  describe('lists', () => {
    const make = (plan: string, more: Partial<PlanState>) => take(stepOf(0, { plan, to: more, events: [] }));
    const listed = async (filter: { phase?: Phase; project?: string; limit?: number }) =>
      (await store.plans.plans({ limit: 100, ...filter })).map(({ id }) => id);

    it('name the newest first, by id where they are of one age', async () => {
      await make('b', { createdAt: NOW });
      await make('new', { createdAt: NOW + 1 });
      await make('a', { createdAt: NOW });
      await make('old', { createdAt: NOW - 1 });
      expect(await listed({})).toEqual(['new', 'b', 'a', 'old']);
      await take(stepOf(1, { plan: 'old', to: { createdAt: NOW - 1, phase: 'execute' } }));
      expect(await listed({ limit: 3 })).toEqual(['new', 'b', 'a']);
      expect(await listed({ limit: 0 })).toEqual([]);
    });

    it('filter by the phase in which a plan is now, and by project', async () => {
      await make('a', { createdAt: NOW + 3, project: 'web' });
      await make('b', { createdAt: NOW + 2, project: 'web', phase: 'ready' });
      await make('c', { createdAt: NOW + 1, phase: 'ready' });
      expect(await listed({ phase: 'ready' })).toEqual(['b', 'c']);
      expect(await listed({ project: 'web' })).toEqual(['a', 'b']);
      expect(await listed({ phase: 'ready', project: 'web' })).toEqual(['b']);
      expect(await listed({ project: '' })).toEqual([]);
      await take(stepOf(1, { plan: 'b', to: { createdAt: NOW + 2, project: 'web', phase: 'applied' } }));
      expect(await listed({ phase: 'ready' })).toEqual(['c']);
      expect(await listed({ phase: 'applied', limit: 1 })).toEqual(['b']);
    });

    it('are whole, however many plans there are', async () => {
      const ids = Array.from({ length: 450 }, (_, i) => `p${i}`);
      await Promise.all(
        ids.map((id, i) => make(id, { createdAt: NOW - i, project: i % 200 === 199 ? 'rare' : 'web' })),
      );
      expect(await listed({ limit: 1000 })).toEqual(ids);
      expect(await listed({ project: 'rare' })).toEqual(['p199', 'p399']);
    });

    it('of what is due name the most overdue first, until the deadline is moved or gone', async () => {
      await make('a', { deadline: NOW + 20 });
      await make('b', { deadline: NOW + 10 });
      await make('c', { deadline: null });
      expect(await store.plans.due(NOW + 9, 10)).toEqual([]);
      expect(await store.plans.due(NOW + 20, 10)).toEqual(['b', 'a']);
      expect(await store.plans.due(NOW + 20, 1)).toEqual(['b']);
      await take(stepOf(1, { plan: 'b', to: { deadline: NOW + 30 } }));
      await take(stepOf(1, { plan: 'a', to: { deadline: null } }));
      expect(await store.plans.due(NOW + 30, 10)).toEqual(['b']);
      await take(stepOf(2, { plan: 'b', to: { deadline: NOW + 30, phase: 'failed' } }));
      expect(await store.plans.due(NOW + 30, 10)).toEqual([]);
    });
  });

  describe('retention', () => {
    const gone = (id: string) =>
      vi.waitFor(async () => expect(await store.plans.plan(id)).toBeUndefined(), {
        interval: 10,
        timeout: 20_000,
      });

    it('ends what is left of a plan once it is over: state, history, commands, evaluations', async () => {
      await take(
        submitted(),
        stepOf(1, { decision: decisionOf('e-0'), to: validating, accept: acceptOf('p', 'f') }),
        stepOf(2, {
          command: 'cancel',
          decision: cancelledOf('f-0'),
          to: { phase: 'cancelled' },
          retentionMs: 1_000,
        }),
      );
      expect((await store.plans.plans({ limit: 10, phase: 'cancelled' })).map(({ id }) => id)).toEqual(['p']);
      expect((await store.evaluations.decisions('e-0'))[0]?.results).toBe('results s');
      await gone('p');
      const nothing = await all();
      expect(nothing).toMatchObject({
        logs: [[], []],
        lists: [[], [], [], []],
        due: [],
        chunks: [undefined, undefined],
        places: [undefined, undefined],
        decisions: [[], []],
        dueChunks: [],
      });
      expect(await store.plans.command('p', 'cancel')).toBeUndefined();
    });

    it('may be nothing: the plan ends with its events, and is gone', async () => {
      await take(submitted());
      await take(stepOf(1, { decision: decisionOf('e-0'), to: { phase: 'failed' }, retentionMs: 0 }));
      expect(await outboxIds()).toEqual(['p-1', 'p-2']);
      await gone('p');
      expect(await store.evaluations.decisions('e-0')).toEqual([]);
    });

    it('lets an id be used anew after that, with nothing of the old plan', async () => {
      await take(stepOf(0, { command: 'c', to: { phase: 'failed' }, retentionMs: 1 }));
      await gone('p');
      await take(submitted({ command: 'c' }));
      expect(await store.plans.log('p')).toHaveLength(1);
      await take(stepOf(0, { plan: 'q', to: { phase: 'failed' }, retentionMs: 1 }));
      await gone('q');
      await take(stepOf(1));
      expect((await store.plans.plans({ limit: 10 })).map(({ id }) => id)).toEqual(['p']);
    });

    it('lets a decision that comes after the end stand as long as the plan does', async () => {
      await take(submitted(), stepOf(1, { to: { phase: 'failed' }, retentionMs: 1_000 }));
      await take(stepOf(2, { to: null, decision: decisionOf('e-0') }));
      expect((await store.evaluations.decisions('e-0'))[0]?.results).toBe('results s');
      await gone('p');
      expect(await store.evaluations.decisions('e-0')).toEqual([]);
    });
  });
});
