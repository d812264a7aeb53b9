import { describe, expect, it } from 'vitest';
import { eventLine, wantsEvent } from '../../../src/cli/commands/events.js';
import { type EventInput, makeEvent } from '../../../src/core/events.js';

function event(name: EventInput['name'], subject: string, data: Record<string, unknown>) {
  return makeEvent({ fleet: 'f', name, subject, revision: '1', sequence: 1, time: 0, data });
}

const lineOf = (...args: Parameters<typeof event>) => eventLine(event(...args)).replace(/^\S+ {2}/, '');

describe('the line of a plan’s event', () => {
  it('says where the plan went and by whom', () => {
    const data = {
      plan: 'P',
      revision: 3,
      phase: 'validate',
      attempt: 1,
      from: 'fix',
      to: 'validate',
      actor: 'a',
    };
    expect(lineOf('plan.phase.changed', 'P', data)).toBe(
      'plan.phase.changed  P  from=fix to=validate revision=3 attempt=1 actor=a',
    );
  });

  it('says which fix of how many is asked for, why, and what comes next', () => {
    const data = {
      plan: 'P',
      revision: 4,
      attempt: 1,
      fix: 1,
      limit: 3,
      reason: 'no rows',
      next_on_failure: 'fix',
    };
    expect(lineOf('plan.retry.requested', 'P', data)).toBe(
      'plan.retry.requested  P  revision=4 attempt=1 fix=1 limit=3 reason=no rows next_on_failure=fix',
    );
  });

  it('says of an evaluation which plan it judged, and why its gate is shut', () => {
    const gates = { plan: { passed: false, reason: '1 of 2 failed' } };
    expect(lineOf('evaluation.failed', 'E', { plan: 'P', stage: 'all', decision: 'failed', gates })).toBe(
      'evaluation.failed  E  plan=P stage=all decision=failed plan gate: 1 of 2 failed',
    );
  });

  it('names the resources without a validation, of which an advisory may be alone', () => {
    const data = { plan: 'P', advisories: [], total: 0, unvalidated: ['repo/api', 'db/orders'] };
    expect(lineOf('advisory.raised', 'E', data)).toBe(
      'advisory.raised  E  plan=P unvalidated=repo/api,db/orders',
    );
    const some = { plan: 'P', advisories: [{}], total: 1, unvalidated: [] };
    expect(lineOf('advisory.raised', 'E', some)).toBe('advisory.raised  E  plan=P total=1');
  });

  it('says when a gate opened although nothing was judged', () => {
    expect(lineOf('plan.gate.passed', 'P', { plan: 'P', revision: 2, vacuous: true })).toBe(
      'plan.gate.passed  P  revision=2 vacuous',
    );
    expect(lineOf('plan.gate.passed', 'P', { plan: 'P', vacuous: false })).not.toContain('vacuous');
  });

  it('cuts what is long', () => {
    expect(lineOf('plan.failed', 'P', { message: 'x'.repeat(5000) }).length).toBeLessThan(250);
  });
});

describe('the events of a plan', () => {
  const filter = { types: new Set<string>(), batch: undefined, plan: 'P', since: undefined };

  it.each<[string, Parameters<typeof event>, boolean]>([
    ['its own', ['plan.applied', 'P', { plan: 'P' }], true],
    ['those of its evaluations', ['evaluation.passed', 'E', { plan: 'P' }], true],
    ['none of another plan', ['plan.applied', 'Q', { plan: 'Q' }], false],
    ['none of a batch', ['batch.completed', 'B', {}], false],
  ])('are %s', (_name, args, wanted) => {
    expect(wantsEvent(event(...args), filter)).toBe(wanted);
    expect(wantsEvent(event(...args), { ...filter, plan: undefined })).toBe(true);
  });
});
