import type { CheckResult, ReadOnly } from '../core/result.js';
import type { Verdict } from '../core/validators/validator.js';
import type { PackJob } from '../ports/queue.js';
import { rounded } from './guarded.js';

/** The result of a check that this worker has run, or tried to. */
export function checkResult(
  { tries }: Pick<PackJob, 'tries'>,
  worker: string,
  { outcome, message, data }: Verdict,
  ms: number,
  readOnly: ReadOnly = 'enforced',
): CheckResult {
  // A literal, not a spread: it is made once for every check.
  return { outcome, message, data, duration_ms: rounded(ms), tries, worker, read_only: readOnly };
}
