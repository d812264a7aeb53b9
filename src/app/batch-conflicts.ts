import { listed } from '../core/listed.js';
import type { ManifestEntry } from '../core/manifest.js';
import { SluiceError } from '../core/problem.js';
import type { Store } from '../ports/store.js';

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

/** Throws BATCH_CONFLICT unless the evaluations that stand in the batch are of the same evidence. */
export async function assertSame(
  { evaluations }: Pick<Store, 'evaluations'>,
  batch: string,
  entries: readonly ManifestEntry[],
): Promise<void> {
  const places = await evaluations.locate(entries.map((entry) => entry.id));
  const chunks = await evaluations.chunks(places.map((place) => place?.chunk ?? ''));
  entries.forEach((entry, i) => {
    const standing = chunks[i]?.chunk.evaluations[places[i]?.position ?? -1];
    if (standing === undefined || standing.subject === entry.subject) return;
    throw otherContent(batch, entry.run);
  });
}
