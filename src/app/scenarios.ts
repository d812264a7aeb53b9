import { LRUCache } from 'lru-cache';
import type { EvaluationOptions } from '../core/manifest.js';
import type { CheckPlace } from '../core/packing.js';
import { type PlannedCheck, planChecks } from '../core/scenario/checks.js';
import { parseScenario } from '../core/scenario/load.js';
import type { Scenario } from '../core/scenario/model.js';
import type { EvaluationStore } from '../ports/store.js';

/** Characters of scenarios that are kept parsed; one that is longer is kept alone. */
const KEPT = 32 * 1024 * 1024;

/** Scenarios by digest, read from the store once and kept: what a digest names never changes. */
export class ScenarioCache {
  readonly #store: Pick<EvaluationStore, 'blobs'>;
  readonly #kept = new LRUCache<string, Scenario>({ maxSize: KEPT });

  constructor(store: Pick<EvaluationStore, 'blobs'>) {
    this.#store = store;
  }

  /** Those that are still stored, by digest; what is stored but is no such scenario is as good as gone. */
  async get(digests: Iterable<string>): Promise<Map<string, Scenario>> {
    const found = new Map<string, Scenario>();
    const missing = new Set<string>();
    for (const digest of digests) {
      const kept = this.#kept.get(digest);
      if (kept === undefined) missing.add(digest);
      else found.set(digest, kept);
    }
    const wanted = [...missing];
    const contents = await this.#store.blobs(wanted);
    wanted.forEach((digest, i) => {
      const json = contents[i];
      const scenario = parsed(json);
      if (scenario?.digest !== digest) return;
      found.set(digest, scenario);
      this.#kept.set(digest, scenario, { size: Math.min(KEPT, json?.length ?? 1) });
    });
    return found;
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
