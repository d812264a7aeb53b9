import { rawOutput } from './settle.js';
import type { RunFailure } from './validators/validator.js';

/** Why something could not be run: an error, never a pass or a fail. */
export function failure(reason: string, message: string, data?: Record<string, unknown>): RunFailure {
  return { kind: 'failure', reason, message, ...(data === undefined ? {} : { data }) };
}

/** The same with what was printed until then, cut and without secrets; nothing where that is empty. */
export function failureWithOutput(reason: string, message: string, printed = ''): RunFailure {
  return failure(reason, message, printed === '' ? undefined : { raw_output: rawOutput(printed) });
}
