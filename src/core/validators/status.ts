import type { Verdict } from './validator.js';

/** A status as it is compared: trimmed, in lower case (DESIGN 3.2.7). */
export function normalStatus(status: string): string {
  return status.trim().toLowerCase();
}

function shown(status: string): string {
  const points = Array.from(status.slice(0, 200));
  return points.length > 60 ? `${points.slice(0, 60).join('')}…` : status;
}

/** Whether a recorded status is the expected one; a missing or blank one is no data. */
export function statusVerdict(
  what: string,
  expected: string,
  recorded: string | undefined,
  normal: (status: string) => string = normalStatus,
): Verdict {
  const actual = normal(recorded ?? '');
  if (actual === '') {
    return { outcome: 'fail', message: `no data: the run has no ${what}`, data: { expected }, noData: true };
  }
  const found = shown(actual);
  const data = { expected, found };
  return actual === normal(expected)
    ? { outcome: 'pass', message: `the ${what} is "${found}"`, data }
    : { outcome: 'fail', message: `the ${what} is "${found}", not "${shown(expected)}"`, data };
}
