import { setTimeout as delay } from 'node:timers/promises';
import { DelayedError, type Job, type Queue, WaitingError } from 'bullmq';
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

/** Most living workers to which a job is offered one after the other before it is put off. */
const MOST_OFFERS = 8;
/** Jobs that are offered at a time; with more, those that can run them find some anyway. */
const OFFERED = 4;
/** Milliseconds that the others have to take it. */
const OFFER_MS = 100;

/** Living workers, and those of them that have all of some runners. */
export interface Standing {
  alive: number;
  able: number;
}

/**
 * Whether a job is offered at once to the worker that has waited longest, `waiting` and `looks` as for the
 * pause and `chance` in [0, 1). A job that is put off is mostly taken by the one who did it, who
 * knows best when its time comes: without an offer an able worker might wait for ever.
 */
export function isOffered(
  looks: number,
  waiting: number,
  { alive, able }: Standing,
  chance: number,
): boolean {
  if (able === 0) return false;
  const offers = Math.min(alive, MOST_OFFERS);
  return looks % (offers + 1) < offers && chance * waiting < OFFERED;
}

/** What postponing takes of a consumer. */
export interface PostponeDeps {
  queue: Queue;
  signal: AbortSignal;
  /** Who lives, and who of them has all of these runners. */
  standing(needs: readonly Need[]): Promise<Standing>;
  onError: (error: Error) => void;
}

/** Leaves a job to another worker, now or later. Throws what tells BullMQ so; no try is used up. */
export async function postpone(
  { queue, signal, standing, onError }: PostponeDeps,
  job: Job,
  token: string | undefined,
  payload: PackPayload,
  needs: readonly Need[],
): Promise<never> {
  const looks = payload.looks ?? 0;
  const move = async (): Promise<'offered' | 'delayed'> => {
    const [waiting, who] = await Promise.all([queue.getDelayedCount(), standing(needs)]);
    await job.updateData({ ...payload, looks: looks + 1 } satisfies PackPayload);
    if (isOffered(looks, waiting, who, Math.random())) {
      await job.moveToWait(token);
      return 'offered';
    }
    await job.moveToDelayed(Date.now() + pauseMs(looks, waiting, who.able > 0, Math.random()), token);
    return 'delayed';
  };
  if ((await patiently(move, signal, onError)) === 'delayed') throw new DelayedError();
  await delay(OFFER_MS, undefined, { signal }).catch(() => {});
  throw new WaitingError();
}

/** Puts a job off that is beyond its limits, for `pauseMs`. Throws what tells BullMQ so; no try is used up. */
export async function comeAgain(
  { signal, onError }: Pick<PostponeDeps, 'signal' | 'onError'>,
  job: Job,
  token: string | undefined,
  payload: PackPayload,
  { since, pauseMs }: { since: number; pauseMs: number },
): Promise<never> {
  const looks = (payload.looks ?? 0) + 1;
  const move = async () => {
    await job.updateData({ ...payload, looks, limitedSince: since } satisfies PackPayload);
    await job.moveToDelayed(Date.now() + pauseMs, token);
  };
  await patiently(move, signal, onError);
  throw new DelayedError();
}
