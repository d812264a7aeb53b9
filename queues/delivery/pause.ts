import type { EventEmitter } from 'node:events';

/**
 * Waits `ms`, less when a signal or the event comes. AbortSignal.any would keep something for each wait
 * for as long as the signals live.
 */
export function pause(
  ms: number,
  signals: readonly AbortSignal[],
  event?: { of: EventEmitter; name: string },
): Promise<void> {
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      event?.of.off(event.name, done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const signal of signals) signal.addEventListener('abort', done);
    event?.of.once(event.name, done);
  });
}
