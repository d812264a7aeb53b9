const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A worker that has lived so long, in milliseconds, was healthy. */
const HEALTHY_MS = 30_000;
/** Ends in a row after which it is called a loop. */
const LOOP = 3;

/** Milliseconds before the n-th start again in a row, from 1. */
export function restartDelay(n: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, n - 1), LONGEST_PAUSE_MS);
}

/** Workers that ended by themselves, one soon after the other. */
export interface Crashes {
  row: number;
  /** Milliseconds since the epoch before which none is started. */
  notBefore: number;
}

export const NO_CRASHES: Crashes = { row: 0, notBefore: 0 };

/** What is to be said of it: `first`, then once that it is a loop. */
export type CrashNews = 'first' | 'loop' | 'known';

/** After a worker that lived for `livedMs` has ended by itself. */
export function afterCrash(
  before: Crashes,
  livedMs: number,
  now: number,
): { crashes: Crashes; news: CrashNews } {
  const row = livedMs >= HEALTHY_MS ? 1 : before.row + 1;
  const news = row < LOOP ? 'first' : row === LOOP ? 'loop' : 'known';
  return { crashes: { row, notBefore: now + restartDelay(row) }, news };
}

/** After some worker has lived for `livedMs` and still lives: whether that ends the row. */
export function afterLife(before: Crashes, livedMs: number): Crashes {
  return livedMs >= HEALTHY_MS ? NO_CRASHES : before;
}
