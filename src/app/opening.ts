import type { BatchOpening } from '../core/batch.js';
import type { EvaluationOptions } from '../core/manifest.js';
import { scenarioJson } from '../core/scenario/load.js';
import type { Scenario } from '../core/scenario/model.js';
import type { Blob } from '../ports/store.js';

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
): BatchOpening {
  const scenarios = Object.fromEntries(loaded.map(({ scenario }) => [scenario.key, scenario.digest]));
  return { id, createdAt, options, scenarios, retentionMs };
}
