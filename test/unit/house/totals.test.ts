import { describe, expect, it } from 'vitest';
import { totals } from '../../../scripts/lib/totals.mjs';

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
});

describe('the last line of npm test', () => {
  it('counts passed, failed and skipped tests', () => {
    const testResults = [
      file('failed', 'passed', 'failed', 'pending'),
      file('passed', 'passed', 'todo', 'skipped'),
    ];
    expect(totals({ testResults }, 1)).toEqual({ passed: 2, failed: 1, skipped: 3 });
  });

  it('counts a file that could not be collected as a failure', () => {
    expect(totals({ testResults: [file('failed'), file('passed', 'passed')] }, 1)).toMatchObject({
      failed: 1,
    });
  });

  it.each([
    ['no report at all', undefined],
    ['a report without a failed test', { testResults: [file('passed', 'passed')] }],
  ])('never says "0 failed" after a bad exit with %s', (_what, report) => {
    expect(totals(report, 1).failed).toBe(1);
  });

  it('says "0 failed" after a good one', () => {
    expect(totals({ testResults: [file('passed', 'passed')] }, 0)).toEqual({
      passed: 1,
      failed: 0,
      skipped: 0,
    });
  });
});
