/** Queues of checks; each has turns of its own, since each is served at a pace of its own. */
export type CheckQueue = 'pure' | 'runner';

/**
 * Where the packs of a chunk stand in the order in which the work of large batches is done, by queue: 1 to
 * `LAST_TURN`, the lowest first.
 */
export type Turns = Readonly<Partial<Record<CheckQueue, number>>>;

/** The last turn that there is: what would come later has it too, and goes in the order of arrival. */
export const LAST_TURN = 2_097_151;

/** Turn of the decisions of large batches: their packs are through in fair order, and they go in that order. */
export const DECISION_TURN = 1;

/** Checks of a batch of weight 1 that share a turn: about a full pack of pure ones, a single one with a runner. */
const CHECKS_A_TURN: Readonly<Record<CheckQueue, number>> = { pure: 640, runner: 1 };

/** Evaluations of every batch, and their checks, that go before the work of large batches. */
const HEAD_EVALUATIONS = 256;
const HEAD_CHECKS: Readonly<Record<CheckQueue, number>> = { pure: 2560, runner: 16 };

export const LEAST_WEIGHT = 1;
export const MOST_WEIGHT = 100;

/** Whether a batch of which so much was accepted before is large: the rest of it waits for its turn. */
export function isBulk(evaluations: number, checks: Readonly<Record<CheckQueue, number>>): boolean {
  return (
    evaluations >= HEAD_EVALUATIONS || checks.pure >= HEAD_CHECKS.pure || checks.runner >= HEAD_CHECKS.runner
  );
}

/** Turns that so many checks of a batch take; a fraction where they are few. */
export function turnsOf(queue: CheckQueue, checks: number, weight: number): number {
  return checks / (CHECKS_A_TURN[queue] * weight);
}

/**
 * Where a batch goes on. `at`: where its last work ended, from 1. `lowest`: the lowest turn that waits now;
 * undefined: none waits, and turns begin again. `waiting`: checks of the batch that wait at most. It does
 * not fall behind what waits, so that time in which it asked for nothing earns it nothing; and it is not
 * ahead by more than its own waiting work, so that it shares again where turns have begun again.
 */
export function resumedAt(
  queue: CheckQueue,
  at: number,
  lowest: number | undefined,
  waiting: number,
  weight: number,
): number {
  const first = lowest ?? 1;
  return Math.min(Math.max(at, first), first + turnsOf(queue, waiting, weight));
}

/** The turn of work that begins at this place. */
export function turnAt(at: number): number {
  return Math.min(LAST_TURN, Math.max(1, Math.floor(at)));
}
