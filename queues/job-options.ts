import type { JobsOptions } from 'bullmq';

/** How anything that failed is tried again. */
export const RETRY: Pick<JobsOptions, 'backoff'> = {
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
};

/**
 * Options of every child. `ignoreDependencyOnFailure` and nothing else: the other three silently
 * open gates or never call the aggregator (DESIGN 5.3). `turn`: its place in fair order, which BullMQ calls
 * priority; without one it goes before all that have one.
 */
export function packOptions(jobId: string, tries: number, turn?: number): JobsOptions {
  const options = {
    jobId,
    attempts: tries,
    ...RETRY,
    removeOnComplete: true,
    ignoreDependencyOnFailure: true,
  };
  return turn === undefined ? options : { ...options, priority: turn };
}
