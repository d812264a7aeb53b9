/**
 * Totals of vitest's JSON report. A file that could not even be collected has no failed test in it and
 * counts as one failure, and so does a run that ended badly without any: a red run never reads "0 failed".
 */
export function totals(report, exitCode) {
  const files = report?.testResults ?? [];
  const tests = files.flatMap((file) => file.assertionResults);
  const passed = tests.filter((test) => test.status === 'passed').length;
  const broken = files.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = tests.filter((test) => test.status === 'failed').length + broken;
  return {
    passed,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: tests.filter((test) => test.status !== 'passed' && test.status !== 'failed').length,
  };
}
