import { type BatchOpening, type BatchRecord, openingConflicts } from '../core/batch.js';
import { idFrom } from '../core/digest.js';
import type { EvaluationOptions } from '../core/manifest.js';
import { SluiceError } from '../core/problem.js';
import { scenarioJson } from '../core/scenario/load.js';
import type { Scenario } from '../core/scenario/model.js';
import type { Blob, Store } from '../ports/store.js';

/** A scenario and, where runners need files, its bundle. */
export interface ScenarioWithBundle {
  scenario: Scenario;
  bundle?: { digest: string; json: string };
}

/** What is stored beside the evaluations: each scenario, and each bundle. */
export function blobsOf(loaded: readonly ScenarioWithBundle[]): Blob[] {
  return loaded.flatMap(({ scenario, bundle }) => [
    { digest: scenario.digest, content: scenarioJson(scenario) },
    ...(bundle === undefined ? [] : [{ digest: bundle.digest, content: bundle.json }]),
  ]);
}

/** What a batch of these scenarios is opened with. */
export function openingOf(
  id: string,
  createdAt: number,
  options: EvaluationOptions,
  loaded: readonly ScenarioWithBundle[],
  retentionMs: number,
  weight?: number,
): BatchOpening {
  const scenarios = Object.fromEntries(loaded.map(({ scenario }) => [scenario.key, scenario.digest]));
  const opening = { id, createdAt, options, scenarios, retentionMs };
  return weight === undefined ? opening : { ...opening, weight };
}

/** Id of an evaluation: the same batch, scenario and run are the same evaluation (ADR-0004). */
export function evaluationId(batch: string, scenario: string, run: string): string {
  return idFrom('evaluation', batch, scenario, run);
}

/**
 * Opens a batch, or finds the one that stands under its id. Throws BATCH_CONFLICT when that was
 * opened with other scenarios or options.
 */
export async function openBatch(store: Store, opening: BatchOpening): Promise<BatchRecord> {
  const standing = await store.batches.openBatch(opening);
  const conflicts = openingConflicts(standing, opening);
  if (conflicts.length > 0) {
    throw new SluiceError(
      'BATCH_CONFLICT',
      `Batch "${opening.id}" was opened with something else: ${conflicts.join('; ')}. Use another --batch.`,
    );
  }
  return standing;
}
