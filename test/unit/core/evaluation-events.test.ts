import { describe, expect, it } from 'vitest';
import type { BatchRecord } from '../../../src/core/batch.js';
import { type Decision, decisionText } from '../../../src/core/decision.js';
import {
  acceptedEvent,
  batchCompletedEvent,
  batchProgressedEvent,
  decisionEvents,
} from '../../../src/core/evaluation-events.js';
import type { Chunk, ManifestEntry } from '../../../src/core/manifest.js';
import { materialize } from '../../../src/core/scenario/materialize.js';
import { judge } from '../../../src/core/scoring.js';
import { chunkOf } from '../../support/evidence.js';
import { DIRECT, result, scenarioWith } from './build.js';

const task = (label: string, required = true) => ({ label, validator: 'task_count', min: 1, required });
const scenario = scenarioWith({ job: [task('a'), task('b', false), task('c', false)] });
const chunk = chunkOf('batch', 'e', 1, { scenario: scenario.digest }) as Chunk;
const entry = chunk.evaluations[0] as ManifestEntry;

function eventsOf(outcomes: ('pass' | 'fail' | 'error')[], perCheck = false) {
  const results = outcomes.map((outcome) => result(outcome));
  const decision: Decision = {
    ...judge(scenario, DIRECT, results),
    scenarioKey: scenario.key,
    actor: null,
    resultsDigest: 'd',
    decidedAt: 1_700_000_000_000,
  };
  const failing = materialize(scenario, entry, chunk, results).filter((r) => !r.passed);
  return decisionEvents('f', chunk, entry, decision, failing, { perCheck });
}
const names = (events: { type: string }[]) => events.map(({ type }) => type.replace('dev.sluice.', ''));
const dataOf = (event: { json: string } | undefined) => JSON.parse(event?.json ?? '{}').data;

describe('the events of a decision', () => {
  it.each([
    ['all passed', ['pass', 'pass', 'pass'], ['evaluation.passed.v1']],
    ['a required one failed', ['fail', 'pass', 'pass'], ['evaluation.failed.v1']],
    ['a required one errored: still evaluation.failed', ['error', 'pass', 'pass'], ['evaluation.failed.v1']],
    ['an informational one failed', ['pass', 'fail', 'pass'], ['advisory.raised.v1', 'evaluation.failed.v1']],
  ] as const)('%s', (_name, outcomes, expected) => {
    expect(names(eventsOf([...outcomes]))).toEqual(expected);
  });

  it('carry decision, score, gates and counts', () => {
    const [event] = eventsOf(['error', 'pass', 'pass']);
    expect(dataOf(event)).toMatchObject({
      decision: 'errored',
      run: entry.run,
      score: { passed: 2, total: 3, percent: 66 },
      gates: { compliance: { passed: false } },
      counts: { errored: 1 },
    });
  });

  it('are the JSON that a serialiser makes, whatever the names hold', () => {
    const odd = { ...entry, run: 'r"\\\u2028…', case: '' };
    const named = { ...chunk, actor: 'a"b' };
    const accepted = acceptedEvent('f"', named, odd, 'k"');
    const judgement = judge(scenario, DIRECT, [result('pass'), result('fail'), result('pass')]);
    const decision = { ...judgement, scenarioKey: 'k"', actor: null, resultsDigest: 'd', decidedAt: 1 };
    const decided = decisionEvents('f"', named, odd, decision, [], { perCheck: false });
    for (const { json } of [accepted, ...decided]) expect(JSON.stringify(JSON.parse(json))).toBe(json);
    expect(JSON.parse(accepted.json).data).toMatchObject({ run: odd.run, scenario: 'k"', actor: 'a"b' });
    expect(decisionText(decision)).toBe(JSON.stringify(decision));
  });

  it('name each failing check once when that is wanted, the decision last', () => {
    const events = eventsOf(['fail', 'error', 'pass'], true);
    expect(names(events)).toEqual([
      'advisory.raised.v1',
      'validation.failed.v1',
      'validation.errored.v1',
      'evaluation.failed.v1',
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('are the same events when the decision is computed again, and are caused by acceptance', () => {
    const ids = (events: { id: string }[]) => events.map(({ id }) => id);
    expect(ids(eventsOf(['fail', 'error', 'pass'], true))).toEqual(
      ids(eventsOf(['fail', 'error', 'pass'], true)),
    );
    const accepted = acceptedEvent('f', chunk, entry, scenario.key);
    for (const { json } of eventsOf(['fail', 'fail', 'pass'], true)) {
      expect(JSON.parse(json)).toMatchObject({
        causationid: accepted.id,
        correlationid: 'batch',
        subject: entry.id,
      });
    }
  });
});

describe('the events of an evaluation that was asked for by itself', () => {
  const asked: Chunk = {
    ...chunk,
    batch: '',
    actor: 'ann',
    single: { correlation: 'ticket-7', retentionMs: 1000 },
  };
  const decision: Decision = {
    ...judge(scenario, DIRECT, [result('fail'), result('fail'), result('pass')]),
    scenarioKey: scenario.key,
    actor: 'ann',
    resultsDigest: 'd',
    decidedAt: 1_700_000_000_000,
  };
  const failing = materialize(scenario, entry, asked, [result('fail'), result('fail')]);
  const events = [
    acceptedEvent('f', asked, entry, scenario.key),
    ...decisionEvents('f', asked, entry, decision, failing, { perCheck: true }),
  ].map(({ json }) => JSON.parse(json));

  it('are of no batch, and correlated as the request said', () => {
    expect(events.length).toBeGreaterThan(3);
    for (const { data, correlationid } of events) {
      expect(data.batch).toBeNull();
      expect(correlationid).toBe('ticket-7');
    }
  });

  it('say who asked for it when it is accepted and when it is decided', () => {
    expect([events.at(0).data.actor, events.at(-1).data.actor]).toEqual(['ann', 'ann']);
  });

  it('of a batch name nobody when nobody is known', () => {
    expect(dataOf(acceptedEvent('f', chunk, entry, scenario.key))).toMatchObject({
      batch: 'batch',
      actor: null,
    });
  });
});

describe('the events of a batch', () => {
  const batch = {
    id: 'b',
    createdAt: 1000,
    total: 10,
    decided: 10,
    passed: 7,
    failed: 2,
    errored: 1,
    vacuousPasses: 3,
  } as BatchRecord;

  it('completed carries the totals and the duration, which is never negative', () => {
    expect(dataOf(batchCompletedEvent('f', batch, 3500))).toEqual({
      batch: 'b',
      total: 10,
      decided: 10,
      passed: 7,
      failed: 2,
      errored: 1,
      vacuous_passes: 3,
      duration_ms: 2500,
    });
    expect(dataOf(batchCompletedEvent('f', batch, 500)).duration_ms).toBe(0);
  });

  it('progressed is another event for each step, the same for the same step', () => {
    const ids = [1, 2, 1].map((step) => batchProgressedEvent('f', batch, step, step).id);
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
  });
});
