import type { RunOutcome, Verdict } from './validator.js';

/** The verdict when a runner brought back nothing, or something that the validator did not ask for. */
export function unexpectedOutcome(outcome: RunOutcome | undefined): Verdict {
  if (outcome?.kind === 'failure') {
    return { outcome: 'error', message: outcome.message, data: { reason: outcome.reason } };
  }
  const brought = outcome === undefined ? 'nothing' : `an outcome of kind "${String(outcome.kind)}"`;
  return { outcome: 'error', message: `the runner brought back ${brought}`, data: { reason: 'no_outcome' } };
}
