import { listed } from '../core/listed.js';
import { SluiceError } from '../core/problem.js';

/** Refusal of runs that come to a batch after its end. */
export function closedTo(batch: string, runs: readonly string[]): SluiceError {
  const names = listed(runs, (run) => JSON.stringify(run));
  const they = runs.length === 1 ? `run ${names} is` : `runs ${names} are`;
  return new SluiceError(
    'BATCH_CONFLICT',
    `Batch "${batch}" takes no more runs, and ${they} not among its own; use another --batch.`,
  );
}

/** Refusal of a run that stands in the batch with other content. */
export function otherContent(batch: string, run: string): SluiceError {
  return new SluiceError(
    'BATCH_CONFLICT',
    `Run "${run}" was judged in batch "${batch}" with other content; use another --batch.`,
  );
}
