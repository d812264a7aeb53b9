import { describe, expect, it } from 'vitest';
import type { PlanCheck } from '../../../../src/core/plan/model.js';
import { planEvaluationId } from '../../../../src/core/shards.js';
import { result } from '../build.js';
import {
  ACTOR,
  advice,
  applying,
  check,
  created,
  evaluateOf,
  IN_PHASE,
  Life,
  NOW,
  newPlan,
  POLICY,
  SNAPSHOTS,
  send,
  submitted,
  USUAL,
} from './build.js';

const fails = { lint: 'fail' } as const;
const keys = (checks: readonly PlanCheck[] | undefined) => checks?.map(({ attachment }) => attachment);
const asked = (life: Life) => evaluateOf(life.last?.effects ?? []);
const hopeless = (retryable: unknown) => ({ lint: result('fail', { retryable }) });

describe('a new plan', () => {
  it('has its resources once and in order, and waits for its strategy', () => {
    const life = new Life().send({ type: 'create', plan: newPlan({ resources: ['b', 'a', 'b'] }) });
    expect(life.state).toMatchObject({
      resources: ['a', 'b'],
      phase: 'strategize',
      revision: 1,
      attempt: 0,
      snapshots: null,
      deadline: NOW + POLICY.deadlines.strategize,
      createdAt: NOW,
    });
  });

  it('that is submitted judges all checks on its snapshots', () => {
    const life = submitted();
    expect(life.state).toMatchObject({
      revision: 1,
      attempt: 1,
      deadline: null,
      snapshots: SNAPSHOTS,
      awaits: { evaluation: planEvaluationId('p', '1', String(NOW)), stage: 'all' },
    });
    expect(asked(life)).toMatchObject({ stage: 'all', rest: [], earlier: null, attempt: 1 });
    expect(keys(asked(life)?.checks)).toEqual(['lint', 'tests', 'style']);
    expect(new Set(asked(life)?.checks.map(({ subject }) => subject))).toEqual(new Set(['digest 1']));
  });

  it('is refused snapshots of what only every object has', () => {
    const plan = newPlan({ resources: ['constructor'] });
    expect(send(undefined, { type: 'submit', plan, snapshots: {} })).toMatchObject({
      refusal: { code: 'WRONG_RESOURCES', message: expect.stringContaining('missing: constructor') },
    });
  });
});

describe('every transition', () => {
  it('raises the revision by one and sets the deadline of the phase', () => {
    for (const [phase, life] of Object.entries(IN_PHASE)) {
      const { now, last } = { now: life().now(), last: life().last };
      expect(now.revision).toBe(life().rows.length);
      const waits = (POLICY.deadlines as Record<string, number>)[phase];
      expect(now.deadline).toBe(waits === undefined ? null : NOW + waits);
      expect(last?.state).toEqual(now);
    }
  });

  it('tells a change of phase with who made it, and the evaluation that it waits for', () => {
    const life = created().send({ type: 'strategized' }).send({ type: 'executed', snapshots: SNAPSHOTS });
    expect(life.data('plan.phase.changed')).toEqual({
      from: 'execute',
      to: 'validate',
      row: 'executed',
      actor: ACTOR,
      evaluation: life.state?.awaits?.evaluation,
      deadline: null,
    });
  });
});

describe('a fix', () => {
  it('is counted, and has what failed judged first and the rest afterwards', () => {
    const life = submitted().decide(fails).fix();
    expect(life.state).toMatchObject({ fixes: 1, attempt: 2, awaits: { stage: 'failed_first' } });
    expect(keys(asked(life)?.checks)).toEqual(['lint']);
    expect(keys(asked(life)?.rest)).toEqual(['tests', 'style']);
    const every = [...(asked(life)?.checks ?? []), ...(asked(life)?.rest ?? [])];
    expect(new Set(every.map(({ subject }) => subject))).toEqual(new Set(['digest 2']));
    const first = life.state?.awaits?.evaluation;
    life.decide();
    expect(life.state).toMatchObject({ fixes: 1, attempt: 2, awaits: { stage: 'rest' }, phase: 'validate' });
    expect(asked(life)).toMatchObject({ stage: 'rest', earlier: first, rest: [], attempt: 2 });
    expect(keys(asked(life)?.checks)).toEqual(['tests', 'style']);
    life.decide();
    expect(life.state).toMatchObject({ phase: 'ready', attempt: 2 });
    expect(life.rows).toEqual(['submit', 'failed-fix', 'fix', 'passed-first', 'passed']);
  });

  it('that passes the first stage and fails the second was one fix, and the second names what fails', () => {
    const life = submitted().decide(fails).fix().decide().decide({ tests: 'fail' });
    expect(life.state).toMatchObject({ phase: 'fix', fixes: 1, failing: ['tests'] });
    expect(life.data('plan.retry.requested')).toMatchObject({ fix: 2, limit: 3 });
    expect(keys(asked(life.fix())?.checks)).toEqual(['tests']);
  });

  it('judges all at once when what failed is no longer attached', () => {
    const life = submitted().decide(fails);
    life.applicable = applying(check('tests'), advice('style'));
    expect(asked(life.fix())).toMatchObject({ stage: 'all', rest: [] });
  });

  it('judges all at once when all of it failed', () => {
    const life = submitted({}, applying(check('lint')))
      .decide(fails)
      .fix();
    expect(asked(life)).toMatchObject({ stage: 'all', rest: [] });
  });

  it('takes up what was attached meanwhile, in the second stage', () => {
    const life = submitted().decide(fails);
    life.applicable = applying(...USUAL.checks, check('new'));
    expect(keys(asked(life.fix())?.rest)).toEqual(['tests', 'style', 'new']);
  });

  it('may bring the same snapshots again', () => {
    expect(submitted().decide(fails).fix(SNAPSHOTS).state?.phase).toBe('validate');
  });
});

describe('errors alone', () => {
  it('have the same checks judged again, twice at most, then count as a failure', () => {
    const life = submitted().decide({ lint: 'error' });
    expect(life.state).toMatchObject({ phase: 'validate', again: 1, attempt: 2, fixes: 0 });
    expect(keys(asked(life)?.checks)).toEqual(['lint', 'tests', 'style']);
    life.decide({ lint: 'error' });
    expect(life.state).toMatchObject({ again: 2, attempt: 3 });
    life.decide({ lint: 'error' });
    expect(life.state).toMatchObject({ phase: 'fix', again: 2 });
    expect(life.rows).toEqual(['submit', 'errored', 'errored', 'failed-fix']);
    expect(life.fix().state?.again).toBe(0);
  });

  it('in the first stage repeat the first stage', () => {
    const life = submitted().decide(fails).fix().decide({ lint: 'error' });
    expect(asked(life)).toMatchObject({ stage: 'failed_first', earlier: null, attempt: 3 });
    expect(keys(asked(life)?.checks)).toEqual(['lint']);
    expect(keys(asked(life)?.rest)).toEqual(['tests', 'style']);
  });

  it('in the second stage repeat the second stage, with what passed in the first', () => {
    const life = submitted().decide(fails).fix().decide();
    const earlier = asked(life)?.earlier;
    for (const attempt of [3, 4]) {
      life.decide({ tests: 'error' });
      expect(asked(life)).toMatchObject({ stage: 'rest', earlier, rest: [], attempt });
    }
    expect(life.decide().state?.phase).toBe('ready');
  });

  it('of both stages use up the same two repeats', () => {
    const life = submitted().decide(fails).fix().decide({ lint: 'error' }).decide();
    life.decide({ tests: 'error' }).decide({ tests: 'error' });
    expect(life.state).toMatchObject({ phase: 'fix', again: 2, failing: ['tests'] });
  });
});

describe('the limit of fixes', () => {
  it('is that of the policy: three failures are fixed, the fourth asks for a revision', () => {
    const life = submitted().decide(fails);
    for (const n of [1, 2, 3]) {
      expect(life.data('plan.retry.requested')).toMatchObject({ fix: n, limit: 3 });
      expect(life.data('plan.retry.requested').next_on_failure).toBe(n < 3 ? 'fix' : 'strategize');
      life.fix().decide(fails);
    }
    expect(life.state).toMatchObject({ phase: 'strategize', fixes: 0, revisions: 1 });
    expect(life.data('plan.revision.requested')).toMatchObject({
      strategy_revision: 1,
      limit: 3,
      reason: 'fixes_used_up',
    });
  });

  it('is lowered by the smallest retry limit among what failed', () => {
    const checks = [check('lint', { retryLimit: 2 }), check('tests', { retryLimit: 1 }), check('docs')];
    const life = submitted({}, applying(...checks)).decide({ lint: 'fail', tests: 'fail', docs: 'fail' });
    expect(life.data('plan.retry.requested')).toMatchObject({ fix: 1, limit: 1 });
    expect(life.fix().decide({ tests: 'fail' }).state?.phase).toBe('strategize');
    const other = submitted({}, applying(...checks)).decide({ lint: 'fail' });
    expect(other.data('plan.retry.requested')).toMatchObject({ limit: 2 });
  });

  it('ends where a result says that it cannot be fixed; only false says so', () => {
    const life = submitted().decide(hopeless(false));
    expect(life.state).toMatchObject({ phase: 'strategize', revisions: 1 });
    expect(life.data('plan.revision.requested')).toMatchObject({ reason: 'not_retryable' });
    for (const other of [true, 'false', 0, null]) {
      expect(submitted().decide(hopeless(other)).state?.phase).toBe('fix');
    }
    const advised = { style: result('fail', { retryable: false }), lint: 'fail' } as const;
    expect(submitted().decide(advised).state?.phase).toBe('fix');
  });
});
