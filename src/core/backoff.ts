/** Milliseconds before try `n` + 1: exponential from a second to five minutes, with jitter in [0, 1). */
export function backoffMs(n: number, jitter: number, retryAfterMs = 0): number {
  const base = Math.min(1000 * 2 ** Math.max(0, n - 1), 300_000);
  return Math.max(retryAfterMs, Math.round(base * (0.5 + jitter / 2)));
}
