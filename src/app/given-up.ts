import type { CheckResult } from '../core/result.js';
import type { PackJob } from '../ports/queue.js';
import { checkResult } from './check-result.js';

/** Result of a check that took its workers along too often (DESIGN 5.3). */
export function givenUp(job: Pick<PackJob, 'stalled' | 'tries'>, worker: string): CheckResult {
  const { stalled } = job;
  const message = `given up: ${stalled} workers died or stopped answering while they ran this check`;
  return checkResult(job, worker, { outcome: 'error', message, data: { reason: 'stalled', stalled } }, 0);
}
