import { describe, expect, it } from 'vitest';
import { eventId, type OutboxEvent } from '../../../../src/core/events.js';
import {
  planAcceptedEvent,
  planDecisionEvents,
  planEvaluationData,
  planEvent,
  planEventData,
} from '../../../../src/core/plan/events.js';
import { judgePlan } from '../../../../src/core/plan/gate.js';
import {
  checkKey,
  type PlanDecision,
  type PlanManifest,
  type PlanState,
} from '../../../../src/core/plan/model.js';
import type { CheckResult } from '../../../../src/core/result.js';
import { result } from '../build.js';
import {
  advice,
  applying,
  check,
  chunkWith,
  FIXED,
  IN_PHASE,
  Life,
  NOW,
  newPlan,
  POLICY,
  submitted,
} from './build.js';

const EVENT_BYTES = 48 * 1024;
const bytes = (text: string) => new TextEncoder().encode(text).length;
const parsed = ({ json }: OutboxEvent) => JSON.parse(json);
const nameOf = ({ type }: OutboxEvent) => type.replace(/^dev\.sluice\.(.+)\.v1$/, '$1');

/** Events that the last step of a plan emits. */
function eventsOf({ last }: Life, causation?: string): OutboxEvent[] {
  const state = last?.state as PlanState;
  return (last?.effects ?? []).flatMap((effect) =>
    effect.type === 'emit' ? [planEvent('f', state, effect, NOW, causation)] : [],
  );
}

/** The data is what its schema says, and has no field besides. */
function expectSchema(event: OutboxEvent): void {
  const schemas = { ...planEventData, ...planEvaluationData };
  const { data } = parsed(event);
  expect(schemas[nameOf(event) as keyof typeof schemas].parse(data)).toEqual(data);
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
      id: eventId('p', '2', 'plan.retry.requested'),
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

const three = [check('lint'), check('tests'), advice('style')];

function decisionEvents(results: CheckResult[], manifest: Partial<PlanManifest> = {}, perCheck = false) {
  const chunk = chunkWith(three, manifest);
  const { verdict, gate, counts, status, vacuous } = judgePlan(chunk, results, null);
  const { unvalidated } = chunk.plan as PlanManifest;
  const decision: PlanDecision = {
    plan: 'p',
    stage: verdict.stage,
    passed: verdict.passed,
    status,
    gate,
    counts,
    vacuous,
    unvalidated,
    resultsDigest: 'd',
    decidedAt: NOW,
  };
  return { chunk, decision, events: planDecisionEvents('f', chunk, decision, results, { perCheck }) };
}

describe('the events of a plan’s evaluation', () => {
  it('begin with its acceptance', () => {
    const event = planAcceptedEvent('f', chunkWith(three, { stage: 'rest', earlier: 'e0' }));
    expectSchema(event);
    expect(parsed(event)).toMatchObject({
      subject: 'e1',
      correlationid: 'p',
      sequence: '1',
      data: {
        evaluation: 'e1',
        plan: 'p',
        project: 'shop',
        stage: 'rest',
        earlier: 'e0',
        attempt: 1,
        checks: 3,
      },
    });
  });

  it.each([
    ['all passed', ['pass', 'pass', 'pass'], ['evaluation.passed']],
    ['a required one failed', ['fail', 'pass', 'pass'], ['evaluation.failed']],
    ['a required one errored', ['error', 'pass', 'pass'], ['evaluation.failed']],
    ['an informational one failed', ['pass', 'pass', 'fail'], ['advisory.raised', 'evaluation.passed']],
    ['an informational one errored', ['fail', 'pass', 'error'], ['advisory.raised', 'evaluation.failed']],
  ] as const)('%s', (_name, outcomes, names) => {
    const { events, chunk } = decisionEvents(outcomes.map((outcome) => result(outcome)));
    expect(events.map(nameOf)).toEqual(names);
    for (const event of events) {
      expectSchema(event);
      expect(parsed(event)).toMatchObject({
        correlationid: 'p',
        causationid: planAcceptedEvent('f', chunk).id,
      });
    }
  });

  it('carry decision, gate and counts', () => {
    const { events, decision } = decisionEvents([result('error'), result('fail'), result('pass')]);
    expect(parsed(events[0] as OutboxEvent).data).toMatchObject({
      decision: 'errored',
      gates: { plan: decision.gate },
      counts: decision.counts,
      results_digest: 'd',
    });
  });

  it('name each check that did not pass once where that is wanted, the decision last', () => {
    const { events } = decisionEvents([result('fail'), result('error'), result('fail')], {}, true);
    expect(events.map(nameOf)).toEqual([
      'advisory.raised',
      'validation.failed',
      'validation.errored',
      'validation.failed',
      'evaluation.failed',
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    for (const event of events) expectSchema(event);
  });

  it('raise an advisory for resources of which nothing was verified, once the gate opens', () => {
    const passed = [result('pass'), result('pass'), result('pass')];
    const unvalidated = ['repo/b'];
    const { events } = decisionEvents(passed, { unvalidated });
    expect(events.map(nameOf)).toEqual(['advisory.raised', 'evaluation.passed']);
    expect(parsed(events[0] as OutboxEvent).data).toMatchObject({ advisories: [], total: 0, unvalidated });
    const first = { unvalidated, stage: 'failed_first', rest: [check('more')] } as const;
    expect(decisionEvents(passed, { ...first, rest: [...first.rest] }).events.map(nameOf)).toEqual([
      'evaluation.passed',
    ]);
    const shut = [result('fail'), result('pass'), result('pass')];
    expect(decisionEvents(shut, { unvalidated }).events.map(nameOf)).toEqual(['evaluation.failed']);
  });

  it('of one that was cancelled are a single evaluation.failed that says so', () => {
    const { chunk, decision } = decisionEvents([]);
    const cancelled: PlanDecision = { ...decision, status: 'cancelled', resultsDigest: '' };
    const events = planDecisionEvents('f', chunk, cancelled, [], { perCheck: true });
    expect(events.map(nameOf)).toEqual(['evaluation.failed']);
    expectSchema(events[0] as OutboxEvent);
    expect(parsed(events[0] as OutboxEvent).data.decision).toBe('cancelled');
  });

  it('stay below 48 KiB, and say where the rest lies', () => {
    const long = { ...result('fail', { log: 'x'.repeat(60_000) }), message: 'ä'.repeat(60_000) };
    const unvalidated = Array.from({ length: 5000 }, (_, n) => `repo/number-${n}`);
    const { events } = decisionEvents([long, long, long], { unvalidated, requireValidations: true }, true);
    for (const event of events) {
      expect(bytes(event.json)).toBeLessThan(EVENT_BYTES);
      expectSchema(event);
    }
    const truncated = events.filter((event) => parsed(event).data.truncated);
    expect(truncated.map(nameOf)).toContain('validation.failed');
    for (const event of truncated) expect(parsed(event).dataref).toBe('/v1/evaluations/e1');
  });

  it('are told of plans alone', () => {
    const { plan: _, ...runs } = chunkWith([]);
    expect(() => planAcceptedEvent('f', runs)).toThrow('evaluates no plan');
    expect(checkKey(check('a'))).toBe('a');
    expect(applying().checks).toEqual([]);
  });
});
