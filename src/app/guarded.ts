import type { RunOutcome } from '../core/validators/validator.js';

/** Milliseconds to the microsecond. */
export const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

/** A check that throws is an error of its own, whatever the others do. */
export function guarded<T>(work: () => T): { value?: T; failure?: RunOutcome & { message: string } } {
  try {
    return { value: work() };
  } catch (error) {
    const message = `the check failed unexpectedly: ${(error as Error).message}`;
    return { failure: { kind: 'failure', reason: 'internal', message } };
  }
}
