import { describe, expect, it } from 'vitest';
import { gateDigest } from '../../../../src/core/plan/gate.js';
import type { Phase, PlanCheck } from '../../../../src/core/plan/model.js';
import {
  ACTOR,
  applying,
  check,
  created,
  evaluateOf,
  FIXED,
  IN_PHASE,
  type Life,
  NOW,
  POLICY,
  SNAPSHOTS,
  send,
  submitted,
  USUAL,
} from './build.js';

const fails = { lint: 'fail' } as const;
const keys = (checks: readonly PlanCheck[] | undefined) => checks?.map(({ attachment }) => attachment);
const asked = (life: Life) => evaluateOf(life.last?.effects ?? []);

describe('the way down', () => {
  it('goes through every fix, revision and escalation to the terminal failure, and skips none', () => {
    const life = created({ fixes: 1, revisions: 2, escalations: 1 });
    const strategy = () => {
      life.send({ type: 'strategized' }).send({ type: 'executed', snapshots: SNAPSHOTS });
      life.decide(fails).fix().decide(fails);
    };
    for (const revisions of [1, 2]) {
      strategy();
      expect(life.state).toMatchObject({ phase: 'strategize', revisions, fixes: 0 });
    }
    strategy();
    expect(life.state).toMatchObject({ phase: 'escalated', escalations: 0 });
    expect(life.data('plan.escalated')).toMatchObject({
      reason: 'revisions_used_up',
      expects: 'plan.responded',
      deadline: new Date(NOW + POLICY.deadlines.escalated).toISOString(),
    });
    life.send({ type: 'respond', answer: 'retry', guidance: 'ask the other team' });
    expect(life.state).toMatchObject({
      phase: 'strategize',
      escalations: 1,
      revisions: 2,
      fixes: 0,
      guidance: 'ask the other team',
    });
    expect(life.data('plan.phase.changed')).toMatchObject({ guidance: 'ask the other team' });
    strategy();
    expect(life.state).toMatchObject({ phase: 'failed', escalations: 1 });
    expect(life.data('plan.failed')).toMatchObject({
      reason: 'escalations_used_up',
      diagnosis: { failed: [{ validation: 'local/lint' }] },
    });
  });

  it('says who aborted and why', () => {
    const abort = { type: 'respond', answer: 'abort', guidance: 'not worth it' } as const;
    const life = IN_PHASE.escalated().send(abort, { actor: 'ann' });
    expect(life.data('plan.failed')).toMatchObject({
      reason: 'aborted',
      message: 'ann answered abort: not worth it',
    });
  });

  it('at a deadline of the strategy or the work keeps the counters', () => {
    for (const phase of ['strategize', 'execute'] as const) {
      const life = IN_PHASE[phase]().send({ type: 'deadline', diagnosis: null }, { now: NOW + 9999 });
      expect(life.state).toMatchObject({ phase: 'escalated', fixes: 0, revisions: 0, escalations: 0 });
      expect(life.data('plan.escalated')).toMatchObject({ reason: `${phase}_deadline`, diagnosis: null });
    }
  });

  it('at the deadline of a fix goes on with the diagnosis that it is given', () => {
    const { diagnosis } = submitted().verdict(fails);
    const life = IN_PHASE.fix().send({ type: 'deadline', diagnosis }, { now: NOW + POLICY.deadlines.fix });
    expect(life.state).toMatchObject({ phase: 'strategize', revisions: 1, failing: ['lint'] });
    expect(life.data('plan.revision.requested')).toMatchObject({
      reason: 'fix_deadline',
      diagnosis,
      applicable: [
        { validation: 'local/lint', resource: 'repo/app', mode: 'required', arguments: {} },
        { validation: 'local/tests' },
        { validation: 'local/style', mode: 'informational' },
      ],
      applicable_total: 3,
    });
  });
});

describe('a plan that is ready', () => {
  it('knows the set of checks that its gate opened on, whatever the stages', () => {
    const gate = gateDigest(USUAL.checks);
    expect(IN_PHASE.ready().state?.gate).toBe(gate);
    expect(submitted().decide(fails).fix().decide().decide().state?.gate).toBe(gate);
    const others = ['strategize', 'execute', 'validate', 'fix', 'escalated', 'failed', 'cancelled'] as const;
    for (const phase of others) expect(IN_PHASE[phase as Phase]().state?.gate).toBeNull();
  });

  it('is applied with the digests that were validated, and says which others differ', () => {
    const life = IN_PHASE.ready();
    const refusal = send(life.state, { type: 'apply', digests: FIXED });
    expect(refusal).toMatchObject({ ok: false, refusal: { code: 'WRONG_DIGEST' } });
    if (!refusal.ok)
      expect(refusal.refusal.message).toMatch(/repo\/app has digest 2, validated was digest 1/);
    expect(life.send({ type: 'apply', digests: SNAPSHOTS }).data('plan.applied')).toMatchObject({
      digests: SNAPSHOTS,
      actor: ACTOR,
    });
  });

  it('validates the same snapshots again, all checks, when the attachments have changed', () => {
    const life = IN_PHASE.ready();
    life.applicable = applying(...USUAL.checks, check('new'));
    life.send({ type: 'apply', digests: SNAPSHOTS });
    expect(life.state).toMatchObject({ phase: 'validate', gate: null, attempt: 2, snapshots: SNAPSHOTS });
    expect(asked(life)).toMatchObject({ stage: 'all' });
    expect(keys(asked(life)?.checks)).toContain('new');
    expect(life.decide().send({ type: 'apply', digests: SNAPSHOTS }).state?.phase).toBe('applied');
  });

  it('does not mind where a check was attached first, nor the order of checks', () => {
    const life = IN_PHASE.ready();
    life.applicable = applying(...[...USUAL.checks].reverse());
    expect(life.send({ type: 'apply', digests: SNAPSHOTS }).state?.phase).toBe('applied');
  });

  it('that loses a validation which the policy demands is validated again, and shut', () => {
    const life = submitted({ requireValidations: true }).decide();
    life.applicable = { checks: [], unvalidated: ['repo/app'] };
    life.send({ type: 'apply', digests: SNAPSHOTS }).decide();
    expect(life.rows).toEqual(['submit', 'passed', 'apply-changed', 'failed-fix']);
  });

  it('may be handed in anew, without using up a fix', () => {
    const life = submitted().decide(fails).fix().decide().decide().fix();
    expect(life.state).toMatchObject({ phase: 'validate', fixes: 1, attempt: 3, awaits: { stage: 'all' } });
  });
});

describe('a plan of which nothing is validated', () => {
  const nothing = { checks: [], unvalidated: ['repo/app'] };

  it('is ready, and says that nothing was verified', () => {
    const life = submitted({}, nothing).decide();
    expect(life.state?.phase).toBe('ready');
    expect(life.data('plan.gate.passed')).toMatchObject({
      vacuous: true,
      unvalidated: ['repo/app'],
      results: [],
      reason: expect.stringContaining('nothing was verified'),
    });
  });

  it('stays shut where the policy demands validations, and may be mended by attaching one', () => {
    const life = submitted({ requireValidations: true }, nothing).decide();
    expect(life.state).toMatchObject({ phase: 'fix', failing: [] });
    expect(life.data('plan.retry.requested')).toMatchObject({
      diagnosis: { unvalidated: ['repo/app'] },
      reason: expect.stringContaining('there is none for repo/app'),
    });
    life.applicable = USUAL;
    expect(life.fix().decide().state?.phase).toBe('ready');
  });
});

describe('cancelling', () => {
  it('decides the evaluation that the plan waits for, and no other', () => {
    const life = IN_PHASE.validate();
    const evaluation = life.state?.awaits?.evaluation;
    life.send({ type: 'cancel', reason: 'budget' });
    expect(life.last?.effects).toContainEqual({ type: 'cancel', evaluation });
    expect(life.state).toMatchObject({ phase: 'cancelled', awaits: null });
    expect(life.data('plan.cancelled')).toEqual({ actor: ACTOR, from: 'validate', reason: 'budget' });
    const other = IN_PHASE.ready().send({ type: 'cancel', reason: null });
    expect(other.last?.effects.filter(({ type }) => type === 'cancel')).toEqual([]);
  });

  it('leaves a decision that comes later without effect on the plan', () => {
    const life = IN_PHASE.validate();
    const verdict = life.verdict({});
    life.send({ type: 'cancel', reason: null });
    expect(send(life.state, { type: 'decided', verdict })).toMatchObject({ refusal: { code: 'STALE' } });
  });
});

describe('a decision', () => {
  it('moves the plan once, and no other than the one that waits for it', () => {
    const life = submitted();
    const verdict = life.verdict(fails);
    life.send({ type: 'decided', verdict });
    expect(send(life.state, { type: 'decided', verdict })).toMatchObject({ row: 'stale' });
  });
});
