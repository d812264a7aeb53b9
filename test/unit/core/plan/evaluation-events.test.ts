import { describe, expect, it } from 'vitest';
import type { OutboxEvent } from '../../../../src/core/events.js';
import { planAcceptedEvent, planDecisionEvents } from '../../../../src/core/plan/events.js';
import { judgePlan } from '../../../../src/core/plan/gate.js';
import type { PlanDecision, PlanManifest } from '../../../../src/core/plan/model.js';
import type { CheckResult } from '../../../../src/core/result.js';
import { result } from '../build.js';
import { advice, check, chunkWith, NOW } from './build.js';
import { bytes, EVENT_BYTES, expectSchema, nameOf, parsed } from './event-shape.js';

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
    actor: null,
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
        actor: null,
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

  it('say who asked for it', () => {
    const asked = { ...chunkWith(three), actor: 'ann' };
    const { decision } = decisionEvents([result('pass'), result('pass'), result('pass')]);
    const decided = planDecisionEvents('f', asked, decision, [], { perCheck: false });
    for (const event of [planAcceptedEvent('f', asked), ...decided])
      if (nameOf(event) !== 'advisory.raised') expect(parsed(event).data.actor).toBe('ann');
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
  });
});
