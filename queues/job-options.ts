import type { BackoffOptions, JobsOptions } from 'bullmq';

/** How anything that failed is tried again. */
const RETRY_PAUSE: BackoffOptions = { type: 'exponential', delay: 500, jitter: 0.5 };
export const RETRY: Pick<JobsOptions, 'backoff'> = { backoff: RETRY_PAUSE };

/**
 * Options of every child, as few as will do: Redis and both ends read them for each job, and they are a large
 * part of what a small one costs. `ignoreDependencyOnFailure` and nothing else: the other three silently
 * open gates or never call the aggregator (DESIGN 5.3). `turn`: its place in fair order, which BullMQ calls
 * priority; without one it goes before all that have one.
 */
export function packOptions(jobId: string, tries: number, turn?: number): JobsOptions {
  const options = { jobId, attempts: tries, removeOnComplete: true, ignoreDependencyOnFailure: true };
  return turn === undefined ? options : { ...options, priority: turn };
}

/** Gives a child the pause before its next try, which does not travel with it. */
export function withRetry({ opts }: { opts: JobsOptions }): void {
  opts.backoff ??= { ...RETRY_PAUSE };
}
