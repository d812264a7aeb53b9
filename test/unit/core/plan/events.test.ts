import { describe, expect, it } from 'vitest';
import { eventId, type OutboxEvent } from '../../../../src/core/events.js';
import { planEvent, planEventData } from '../../../../src/core/plan/events.js';
import type { PlanState } from '../../../../src/core/plan/model.js';
import { result } from '../build.js';
import { check, FIXED, IN_PHASE, Life, NOW, newPlan, POLICY, submitted } from './build.js';
import { bytes, EVENT_BYTES, expectSchema, nameOf, parsed } from './event-shape.js';

/** Events that the last step of a plan emits. */
function eventsOf({ last }: Life, causation?: string): OutboxEvent[] {
  const state = last?.state as PlanState;
  return (last?.effects ?? []).flatMap((effect) =>
    effect.type === 'emit' ? [planEvent('f', state, effect, NOW, causation)] : [],
  );
}

const lives: [string, Life][] = [
  ...Object.entries(IN_PHASE).map(([phase, life]): [string, Life] => [`phase ${phase}`, life()]),
  ['a revision', submitted({ fixes: 0 }).decide({ lint: 'fail' })],
  ['an answer', IN_PHASE.escalated().send({ type: 'respond', answer: 'retry', guidance: 'try x' })],
  ['an abort', IN_PHASE.escalated().send({ type: 'respond', answer: 'abort', guidance: null })],
  ['a late fix', IN_PHASE.fix().send({ type: 'deadline', diagnosis: null }, { now: NOW + 99_999 })],
  [
    'a late strategy',
    IN_PHASE.strategize().send({ type: 'deadline', diagnosis: null }, { now: NOW + 99_999 }),
  ],
  ['no answer', IN_PHASE.escalated().send({ type: 'deadline', diagnosis: null }, { now: NOW + 99_999 })],
  ['a second stage', submitted().decide({ lint: 'fail' }).fix().decide().decide({ style: 'fail' })],
];

describe('the events of a plan', () => {
  it.each(lives)('%s: say what their schemas say, and nothing else', (_name, life) => {
    const events = eventsOf(life);
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) expectSchema(event);
  });

  it('are all there', () => {
    const names = new Set(lives.flatMap(([, life]) => eventsOf(life)).map(nameOf));
    expect(names).toEqual(new Set(Object.keys(planEventData)));
  });

  it('have an id of plan, revision and name, and stand in the order of revisions', () => {
    const life = IN_PHASE.fix();
    const [changed, retry] = eventsOf(life, 'cause');
    expect(parsed(retry as OutboxEvent)).toMatchObject({
      id: eventId('p', `2@${NOW}`, 'plan.retry.requested'),
      source: '/sluice/f',
      subject: 'p',
      partitionkey: 'p',
      sequence: '2',
      correlationid: 'p',
      causationid: 'cause',
      time: new Date(NOW).toISOString(),
    });
    expect(nameOf(changed as OutboxEvent)).toBe('plan.phase.changed');
    expect(eventsOf(life).map(parsed)[0]).not.toHaveProperty('causationid');
    expect(eventsOf(life, 'cause')).toEqual(eventsOf(life, 'cause'));
  });

  it('say where the plan stands', () => {
    const [event] = eventsOf(submitted({ fixes: 1 }).decide({ lint: 'fail' }).fix());
    expect(parsed(event as OutboxEvent).data).toMatchObject({
      plan: 'p',
      project: 'shop',
      revision: 3,
      phase: 'validate',
      attempt: 2,
      counters: { fixes: 1, revisions: 0, escalations: 0 },
      limits: { fixes: 1, revisions: POLICY.revisions, escalations: POLICY.escalations },
    });
  });

  it('ask for a fix so that an agent can act on the event alone', () => {
    const life = submitted().decide({
      lint: result('fail', { excerpt: 'TODO' }),
      tests: 'error',
      style: 'fail',
    });
    const event = parsed(eventsOf(life)[1] as OutboxEvent);
    expect(event).not.toHaveProperty('dataref');
    expect(event.data).toMatchObject({
      fix: 1,
      limit: 3,
      failing: ['lint', 'tests'],
      failing_total: 2,
      diagnosis: {
        failed: [{ validation: 'local/lint', excerpt: 'TODO', message: 'm' }],
        errored: [{ validation: 'local/tests' }],
        advisories: [{ validation: 'local/style' }],
      },
      expects: 'plan.fixed',
      deadline: new Date(NOW + POLICY.deadlines.fix).toISOString(),
      next: expect.stringContaining('plan.fixed'),
      next_on_failure: 'fix',
    });
  });

  it.each([
    [{}, 'fix'],
    [{ fixes: 1 }, 'strategize'],
    [{ fixes: 1, revisions: 0 }, 'escalated'],
    [{ fixes: 1, revisions: 0, escalations: 0 }, 'failed'],
  ])('with %j say that the next failure leads to %s', (policy, phase) => {
    const life = submitted(policy).decide({ lint: 'fail' });
    expect(life.data('plan.retry.requested').next_on_failure).toBe(phase);
    expect(life.fix().decide({ lint: 'fail' }).state?.phase).toBe(phase);
  });

  it('say what the gate opened on, both stages of it', () => {
    const life = submitted().decide({ lint: 'fail' }).fix().decide().decide({ style: 'error' });
    expect(life.data('plan.gate.passed')).toMatchObject({
      results: [
        { attachment_id: 'lint', outcome: 'pass', mode: 'required' },
        { attachment_id: 'tests', outcome: 'pass' },
        { attachment_id: 'style', outcome: 'error', mode: 'informational' },
      ],
      results_total: 3,
      digests: FIXED,
      advisories: 1,
      vacuous: false,
      truncated: false,
    });
  });

  it('stay below 48 KiB however much there is, and say where the rest lies', () => {
    const many = Array.from({ length: 2000 }, (_, n) =>
      check(`check-${n}`, { resource: `repo/number-${n}` }),
    );
    const resources = many.map(({ resource }) => resource);
    const snapshots = Object.fromEntries(resources.map((name) => [name, 'a'.repeat(64)]));
    const long = { ...result('fail', { log: 'x'.repeat(30_000) }), message: 'm'.repeat(30_000) };
    const begin = (policy: object) => {
      const life = new Life({ checks: many, unvalidated: resources });
      return life.send({ type: 'submit', plan: newPlan({ resources }, policy), snapshots });
    };
    const bad = Object.fromEntries(many.map(({ attachment }) => [attachment, long]));
    const guidance = 'g'.repeat(100_000);
    const all = [
      begin({}).decide(bad),
      begin({ fixes: 0, requireValidations: true }).decide(bad),
      begin({ fixes: 0, revisions: 0 }).decide(bad),
      begin({ fixes: 0, revisions: 0, escalations: 0 }).decide(bad),
      begin({ fixes: 0, revisions: 0 }).decide(bad).send({ type: 'respond', answer: 'abort', guidance }),
      begin({}).decide(),
      begin({}).decide().send({ type: 'apply', digests: snapshots }),
      begin({}).send({ type: 'cancel', reason: guidance }),
    ];
    for (const life of all) {
      for (const event of eventsOf(life)) {
        expect(bytes(event.json)).toBeLessThan(EVENT_BYTES);
        expectSchema(event);
        const { data, dataref } = parsed(event);
        expect(dataref).toBe(data.truncated ? `/v1/evaluations/${life.state?.lastEvaluation}` : undefined);
      }
    }
    const answer = begin({ fixes: 0, revisions: 0 }).decide(bad);
    const [changed] = eventsOf(answer.send({ type: 'respond', answer: 'retry', guidance }));
    expect(bytes(changed?.json ?? '')).toBeLessThan(EVENT_BYTES);
  });

  it('have a time even where a deadline lies beyond all dates', () => {
    const deadlines = { ...POLICY.deadlines, fix: Number.MAX_SAFE_INTEGER };
    const life = submitted({ deadlines }).decide({ lint: 'fail' });
    expect(life.data('plan.retry.requested').deadline).toBe('+275760-09-13T00:00:00.000Z');
  });
});
