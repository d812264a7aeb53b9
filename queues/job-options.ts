import type { JobsOptions } from 'bullmq';

/** How anything that failed is tried again. */
export const RETRY: Pick<JobsOptions, 'backoff'> = {
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
};

/**
 * Options of every child. `ignoreDependencyOnFailure` and nothing else: the other three silently
 * open gates or never call the aggregator (DESIGN 5.3).
 */
export function packOptions(jobId: string, tries: number): JobsOptions {
  return { jobId, attempts: tries, ...RETRY, removeOnComplete: true, ignoreDependencyOnFailure: true };
}
