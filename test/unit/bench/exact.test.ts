import { describe, expect, it } from 'vitest';
import { DeliveryCheck } from '../../../bench/harness/exact.js';
import { expectedOf, runOf } from '../../../bench/harness/workload.js';

const event = (run: string, passed: boolean, score: number, batch = 'b') =>
  JSON.stringify({
    type: `dev.sluice.evaluation.${passed ? 'passed' : 'failed'}.v1`,
    correlationid: batch,
    data: { run, score: { passed: score } },
  });

const faultsOf = (...events: string[]): string[] => {
  const check = new DeliveryCheck('b', (run) => (run === 'one' ? { passed: true, score: 10 } : undefined));
  for (const json of events) check.take(json);
  return check.faults(1);
};

const RIGHT = event('one', true, 10);

describe('the look at deliveries', () => {
  it('finds nothing when each run has its one decision', () => {
    const accepted = JSON.stringify({
      type: 'dev.sluice.evaluation.accepted.v1',
      correlationid: 'b',
      data: { run: 'one' },
    });
    expect(faultsOf(accepted, RIGHT, event('two', true, 10, 'another batch'))).toEqual([]);
  });

  it.each([
    ['a run without a decision', [], /0 of 1 runs/],
    ['a run with two', [RIGHT, RIGHT], /one was decided twice/],
    ['a run that nobody submitted', [RIGHT, event('two', true, 10)], /two was never submitted/],
    ['a wrong verdict', [event('one', false, 10)], /one failed with 10, but should have passed/],
    ['a wrong score', [event('one', true, 9)], /one passed with 9/],
  ])('finds %s', (_, events, message) => {
    expect(faultsOf(...events).join('\n')).toMatch(message);
  });

  it('knows what the runs of the bench come to: one in ten breaks a required rule', () => {
    const verdicts = Array.from({ length: 20 }, (_, n) => expectedOf(runOf(n).text));
    expect(verdicts.map(({ passed }) => passed)).toEqual(verdicts.map((_, n) => n % 10 !== 0));
    expect(new Set(verdicts.map(({ score }) => score))).toEqual(new Set([9, 10]));
  });
});
