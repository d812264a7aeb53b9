import { type Load, waitedMs } from './load.js';

/** How many workers a fleet may have, and when. */
export interface ScalePolicy {
  /** From 0. */
  min: number;
  /** At least 1, and at least `min`. */
  max: number;
  /** Milliseconds for which fewer workers must have sufficed before there are fewer. */
  idleMs: number;
  /** Milliseconds that the oldest job may wait before there are more. */
  targetAgeMs: number;
}

/** What was needed lately: falling, the newest last. */
type Needs = readonly { at: number; need: number }[];

/** What is remembered from one look to the next. */
export interface ScaleState {
  since: number;
  needs: Needs;
}

/** Why there are to be so many workers. */
export type ScaleReason = 'work' | 'late' | 'idle' | 'steady' | 'limits';

export interface ScaleTarget {
  workers: number;
  why: ScaleReason;
  state: ScaleState;
}

/** A figure that is that little above a whole number counts as it. */
const SLACK = 0.05;
/** Fewer workers must be able to do that much more than what comes, or they would soon be more again. */
const HEADROOM = 1.1;

const roundedUp = (workers: number): number => Math.max(0, Math.ceil(workers - SLACK));

/**
 * Workers that the load needs, without limits or memory: enough to keep up with what comes and to take all
 * that waits within the target age; as long as nobody knows how fast they are, one. None where nothing
 * waits, is in hand, comes, or is due again before the idle time is over.
 */
export function neededWorkers(load: Load, policy: Pick<ScalePolicy, 'idleMs' | 'targetAgeMs'>): number {
  return neededFor(load, load.arrivals, policy);
}

function neededFor(
  { sample, rate, moved }: Load,
  arrivals: number,
  policy: Pick<ScalePolicy, 'idleMs' | 'targetAgeMs'>,
): number {
  const { waiting, active, dueMs, workers } = sample;
  const isSoonDue = dueMs !== undefined && dueMs <= (workers > 0 ? policy.idleMs : 0);
  if (waiting + active === 0 && !moved && !isSoonDue) return 0;
  if (rate === undefined) return 1;
  // A worker that has not done anything yet is not endlessly slow.
  const speed = Math.max(rate, 1e-6);
  const keepUp = Math.min(roundedUp(arrivals / speed), Math.max(1, workers) + waiting);
  const seconds = Math.max(policy.targetAgeMs, 1) / 1000;
  const wanted = roundedUp((arrivals + waiting / seconds) / speed);
  return Math.max(1, keepUp, Math.min(wanted, workers + waiting));
}

function remember(state: ScaleState | undefined, at: number, need: number, idleMs: number): ScaleState {
  const kept = (state?.needs ?? []).filter((one) => one.at > at - idleMs && one.need > need);
  return { since: state?.since ?? at, needs: [...kept, { at, need }] };
}

const within = (workers: number, { min, max }: ScalePolicy): number =>
  Math.min(Math.max(workers, min), Math.max(min, max));

/**
 * How many workers a fleet is to have. `running`: those that take jobs and those that begin, `starting`: how
 * many of them begin. More at once where work waits and there is none, or where the oldest job waits too
 * long; fewer only when fewer have sufficed for the whole idle time.
 */
export function targetWorkers(
  before: ScaleState | undefined,
  load: Load,
  running: number,
  starting: number,
  now: number,
  policy: ScalePolicy,
): ScaleTarget {
  const need = neededWorkers(load, policy);
  const lasting = neededFor(load, load.arrivals * HEADROOM, policy);
  const state = remember(before, now, lasting, policy.idleMs);
  const answer = (wanted: number, why: ScaleReason): ScaleTarget => {
    const workers = within(wanted, policy);
    return { workers, why: workers === wanted ? why : 'limits', state };
  };
  if (running === 0) return answer(need, need > 0 ? 'work' : 'steady');
  if (waitedMs(load, now) > policy.targetAgeMs && starting === 0) {
    // While nobody knows how fast they are, twice as many is a careful next step.
    const more = load.rate === undefined ? running + Math.min(running, load.sample.waiting) : need;
    if (more > running) return answer(more, 'late');
  }
  const most = state.needs[0]?.need ?? lasting;
  const isLongEnough = now - state.since >= policy.idleMs;
  return isLongEnough && most < running ? answer(most, 'idle') : answer(running, 'steady');
}

/**
 * Workers that one supervisor is to run: what its fleet is to have, less those of others. Several share:
 * none goes below its part, so that they do not all make room for each other. `place`: from 0, among
 * `supervisors` that are alive.
 */
export function ownShare(target: number, others: number, place: number, supervisors: number): number {
  const rest = Math.max(0, target - others);
  if (supervisors < 2) return rest;
  const part = Math.floor(target / supervisors) + (place < target % supervisors ? 1 : 0);
  return Math.max(rest, part);
}
