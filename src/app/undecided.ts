import { setMaxListeners } from 'node:events';

/** Milliseconds between looks at whether what is being run still matters. */
export const LOOK_EVERY_MS = 1000;

/**
 * Runs work with a signal that aborts with the given one, and as soon as its evaluation is decided
 * without it: its plan was cancelled, or its deadline has passed. Undefined then. A look that fails says
 * nothing. Throws what the work throws.
 */
export async function whileUndecided<T>(
  isDecided: () => Promise<boolean>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  if (await isDecided()) return undefined;
  const decided = new AbortController();
  let looking = false;
  const look = async () => {
    if (looking) return;
    looking = true;
    if (await isDecided().catch(() => false)) decided.abort(new Error('the evaluation is decided'));
    looking = false;
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  try {
    const either = AbortSignal.any([signal, decided.signal]);
    // Each run of the pack listens to it.
    setMaxListeners(0, either);
    const done = await work(either);
    return decided.signal.aborted ? undefined : done;
  } catch (error) {
    if (decided.signal.aborted && !signal.aborted) return undefined;
    throw error;
  } finally {
    clearInterval(timer);
  }
}
