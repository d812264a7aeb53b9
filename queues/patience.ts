import { setTimeout as delay } from 'node:timers/promises';

/** Replies by which Redis says: not now. Anything else that it refuses, it will refuse again. */
const NOT_NOW =
  /^(?:OOM|EXECABORT|MISCONF|LOADING|READONLY|BUSY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS)\b/;
const NETWORK: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;

/** Whether an error says that Redis is full, busy or away, and nothing of the work itself. */
export function willPass(error: unknown): boolean {
  const { message = '', code } = (error ?? {}) as { message?: string; code?: unknown };
  return NOT_NOW.test(message) || NETWORK.has(code) || /^Connection is closed/.test(message);
}

/**
 * Does the work again for as long as Redis is full, busy or away: such trouble says nothing of what
 * is judged, and must not use up the tries that end in an error result. Throws what will not pass,
 * and gives up with the signal, a function that gives it being asked in trouble alone.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  signal: AbortSignal | (() => AbortSignal),
  onError: (error: Error) => void,
): Promise<T> {
  const told = () => (typeof signal === 'function' ? signal() : signal);
  for (let n = 0; ; n++) {
    try {
      return await work();
    } catch (error) {
      if (!willPass(error) || told().aborted) throw error;
      onError(error as Error);
      await delay(Math.min(FIRST_WAIT_MS * 2 ** n, LONGEST_WAIT_MS), undefined, { signal: told() });
    }
  }
}
