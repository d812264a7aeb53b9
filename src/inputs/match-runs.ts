import { nearestName, type Problem } from '../core/problem.js';
import type { Scenario } from '../core/scenario/model.js';
import type { RunItem, RunOrProblem, RunProblem } from './run-items.js';

/** A run and the scenario that judges it. */
export interface MatchedRun extends RunItem {
  scenario: Scenario;
}

export type MatchedOrProblem = MatchedRun | RunProblem;

/** Keys that a message lists. */
const MAX_LISTED = 20;

function place(item: RunItem): Pick<Problem, 'file' | 'line'> {
  return item.line === undefined ? { file: item.file } : { file: item.file, line: item.line };
}

function lost(item: RunItem, key: string, problem: Omit<Problem, 'file' | 'line' | 'path'>): RunProblem {
  const path = item.path === '' ? key : `${item.path}.${key}`;
  return { problem: { ...place(item), path, ...problem }, about: 'record', first: true };
}

function listed(keys: readonly string[]): string[] {
  if (keys.length <= MAX_LISTED) return [...keys];
  return [...keys.slice(0, MAX_LISTED), `... and ${keys.length - MAX_LISTED} more`];
}

/** A key that nobody wrote down is the likely reason when a run names another. */
function whereKeysComeFrom(fromFolder: ReadonlySet<string>): string {
  const [first] = fromFolder;
  if (first === undefined) return '';
  return ` (key ${JSON.stringify(first)} comes from the name of its folder; set "key" in the scenario)`;
}

function unknownScenario(
  item: RunItem,
  named: string,
  keys: readonly string[],
  fromFolder: ReadonlySet<string>,
): RunProblem {
  const nearest = nearestName(named, keys);
  return lost(item, 'scenario', {
    message: `names no given scenario${whereKeysComeFrom(fromFolder)}`,
    found: JSON.stringify(named),
    allowed: listed(keys),
    ...(nearest === undefined ? {} : { nearest }),
  });
}

/**
 * Where ids were first seen. A line of a file costs one number beside the id, so that a million runs
 * of NDJSON stay small.
 */
class Places {
  readonly #files: string[] = [];
  readonly #at = new Map<string, number | string>();

  /** Undefined for a new id; else the place that took it. */
  take(id: string, item: RunItem): string | undefined {
    const taken = this.#at.get(id);
    if (typeof taken === 'string') return taken;
    if (taken !== undefined) return `${this.#files[Math.floor(taken / 2 ** 32)]}:${taken % 2 ** 32}`;
    this.#at.set(id, this.#encode(item));
    return undefined;
  }

  #encode(item: RunItem): number | string {
    if (item.line === undefined) return item.path === '' ? item.file : `${item.file}: ${item.path}`;
    if (this.#files.at(-1) !== item.file) this.#files.push(item.file);
    return (this.#files.length - 1) * 2 ** 32 + item.line;
  }
}

/**
 * Gives each run its scenario: the one whose key it names, or the only one there is (DESIGN 8). One
 * id may be judged once by each scenario. Problems that come in are handed on in their place.
 * `fromFolder`: keys that no scenario file names. `sameIds`: whoever asks looks at ids itself, and no id is
 * kept here.
 */
export async function* matchRuns(
  items: AsyncIterable<RunOrProblem>,
  scenarios: readonly Scenario[],
  fromFolder: ReadonlySet<string> = new Set(),
  { sameIds = false } = {},
): AsyncGenerator<MatchedOrProblem> {
  const byKey = new Map(scenarios.map((scenario) => [scenario.key, scenario]));
  const keys = [...byKey.keys()];
  const only = scenarios.length === 1 ? scenarios[0] : undefined;
  const seen = new Map<Scenario, Places>();
  for await (const item of items) {
    if ('problem' in item) {
      yield item;
      continue;
    }
    const named = item.run.scenario;
    const scenario = named === undefined ? only : byKey.get(named);
    if (scenario === undefined) {
      const message = 'is missing, and more than one scenario was given';
      yield named === undefined
        ? lost(item, 'scenario', { message, allowed: listed(keys) })
        : unknownScenario(item, named, keys, fromFolder);
      continue;
    }
    if (sameIds) {
      yield { ...item, scenario };
      continue;
    }
    const places = seen.get(scenario) ?? new Places();
    seen.set(scenario, places);
    const other = places.take(item.run.id, item);
    if (other === undefined) yield { ...item, scenario };
    else
      yield lost(item, 'id', {
        message: `is taken by the run at ${other}`,
        found: JSON.stringify(item.run.id),
      });
  }
}
