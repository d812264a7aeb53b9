/** Starts that fail in a row before the next one has to wait. */
const FAILURES = 3;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 60_000;

/** How a server’s starts went: none, or how many failed in a row and until when no other is tried. */
export interface Restarts {
  failed: number;
  /** On the clock of `afterStart`, in milliseconds. */
  pausedUntil: number;
}

export const noRestarts: Restarts = { failed: 0, pausedUntil: 0 };

/** A server that cannot be started is left alone for longer and longer: 5 s after three failures, a minute at most. */
export function afterStart({ failed }: Restarts, isStarted: boolean, now: number): Restarts {
  if (isStarted) return noRestarts;
  const failures = failed + 1;
  if (failures < FAILURES) return { failed: failures, pausedUntil: 0 };
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** (failures - FAILURES), LONGEST_PAUSE_MS);
  return { failed: failures, pausedUntil: now + pause };
}

/** Milliseconds until a start is tried again; 0: at once. */
export function pauseOf({ pausedUntil }: Restarts, now: number): number {
  return Math.max(0, pausedUntil - now);
}
