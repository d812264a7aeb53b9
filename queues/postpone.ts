import { DelayedError, type Job, type Queue } from 'bullmq';
import type { Need } from '../src/core/registry/needs.js';
import { patiently } from './patience.js';
import type { PackPayload } from './payloads.js';

const FIRST_PAUSE_MS = 1000;
/** Where some living worker has the runner: it is busy now, and must not be idle for long. */
const LONGEST_WHERE_SERVED_MS = 3000;
const LONGEST_PAUSE_MS = 15_000;
/** Of this many jobs at most all workers together look at one in vain in a second. */
const LOOKS_A_SECOND = 50;
const LONGEST_IN_A_CROWD_MS = 60_000;

/**
 * Milliseconds until another worker may look at a job that this one has no runner for. `looks`: how
 * often that was so before; `waiting`: how many jobs wait like it; `jitter` in [0, 1).
 */
export function pauseMs(looks: number, waiting: number, isServed: boolean, jitter: number): number {
  const longest = isServed ? LONGEST_WHERE_SERVED_MS : LONGEST_PAUSE_MS;
  const own = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(looks, 10), longest);
  const crowd = Math.min((waiting * 1000) / LOOKS_A_SECOND, LONGEST_IN_A_CROWD_MS);
  return Math.round(Math.max(own, crowd) * (0.75 + jitter / 2));
}

/** How many times a worker ran the job, this one included: looks in vain are none. */
export function triesOf(
  job: Pick<Job, 'attemptsStarted'>,
  { looks = 0 }: Pick<PackPayload, 'looks'>,
): number {
  return Math.max(1, job.attemptsStarted - looks);
}

/** What postponing takes of a consumer. */
export interface PostponeDeps {
  queue: Queue;
  signal: AbortSignal;
  /** Whether a living worker has all of these runners. */
  isServed(needs: readonly Need[]): Promise<boolean>;
  onError: (error: Error) => void;
}

/** Leaves a job to another worker, for later. Throws what tells BullMQ so; no try is used up. */
export async function postpone(
  { queue, signal, isServed, onError }: PostponeDeps,
  job: Job,
  token: string | undefined,
  payload: PackPayload,
  needs: readonly Need[],
): Promise<never> {
  const looks = payload.looks ?? 0;
  const move = async () => {
    const [waiting, served] = await Promise.all([queue.getDelayedCount(), isServed(needs)]);
    await job.updateData({ ...payload, looks: looks + 1 } satisfies PackPayload);
    await job.moveToDelayed(Date.now() + pauseMs(looks, waiting, served, Math.random()), token);
  };
  await patiently(move, signal, onError);
  throw new DelayedError();
}
