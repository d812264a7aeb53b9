import { LRUCache } from 'lru-cache';
import type { EvaluationOptions } from '../core/manifest.js';
import type { CheckPlace } from '../core/packing.js';
import { type PlannedCheck, planChecks } from '../core/scenario/checks.js';
import { parseScenario } from '../core/scenario/load.js';
import type { Scenario } from '../core/scenario/model.js';
import type { EvaluationStore } from '../ports/store.js';

const KEPT = 200;

/** Scenarios by digest, read from the store once and kept: what a digest names never changes. */
export class ScenarioCache {
  readonly #store: Pick<EvaluationStore, 'blobs'>;
  readonly #kept = new LRUCache<string, Scenario>({ max: KEPT });

  constructor(store: Pick<EvaluationStore, 'blobs'>) {
    this.#store = store;
  }

  /** Those that are still stored, by digest; what is stored but is no such scenario is as good as gone. */
  async get(digests: Iterable<string>): Promise<Map<string, Scenario>> {
    const wanted = [...new Set(digests)];
    const missing = wanted.filter((digest) => !this.#kept.has(digest));
    const contents = await this.#store.blobs(missing);
    missing.forEach((digest, i) => {
      const scenario = parsed(contents[i]);
      if (scenario?.digest === digest) this.#kept.set(digest, scenario);
    });
    return new Map(wanted.flatMap((d) => (this.#kept.has(d) ? [[d, this.#kept.get(d) as Scenario]] : [])));
  }
}

/** Undefined for what cannot be read: one bad scenario must not keep its neighbours from a decision. */
function parsed(json: string | undefined): Scenario | undefined {
  try {
    return json === undefined ? undefined : parseScenario(json);
  } catch {
    return undefined;
  }
}

const PLACES = { none: 'pure', match: 'pure', ansible: 'runner', skip: 'skip' } as const;

/** Where each check of an evaluation of this scenario belongs. */
export function checkPlaces(scenario: Scenario, options: EvaluationOptions): CheckPlace[] {
  return planChecks(scenario, options).map((check: PlannedCheck) => PLACES[check.runner]);
}
