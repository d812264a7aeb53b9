/** Longest wait that a receiver may ask for, in milliseconds: a day. */
const LONGEST_ASKED_MS = 86_400_000;

/**
 * Milliseconds before try `n` + 1 (`n` from 1): exponential from a second to `longestMs`, with jitter in
 * [0, 1). What the receiver asks for is honoured where it is longer, up to a day.
 */
export function backoffMs(n: number, jitter: number, longestMs: number, retryAfterMs = 0): number {
  const base = Math.min(1000 * 2 ** Math.max(0, n - 1), longestMs);
  return Math.max(Math.min(retryAfterMs, LONGEST_ASKED_MS), Math.round(base * (0.5 + jitter / 2)));
}

/** Pauses between two tries to connect, in milliseconds: from 100, doubled, to `longest`. */
export const growingPauses =
  (longest: number) =>
  (attempt: number): number =>
    Math.min(50 * 2 ** Math.min(attempt, 6), longest);
