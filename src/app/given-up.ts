import type { CheckResult } from '../core/result.js';
import type { PackJob } from '../ports/queue.js';

/** Result of a check that took its workers along too often (DESIGN 5.3). */
export function givenUp({ stalled, tries }: Pick<PackJob, 'stalled' | 'tries'>, worker: string): CheckResult {
  return {
    outcome: 'error',
    message: `given up: ${stalled} workers died or stopped answering while they ran this check`,
    data: { reason: 'stalled', stalled },
    duration_ms: 0,
    tries,
    worker,
    read_only: 'enforced',
  };
}
