import { LRUCache } from 'lru-cache';
import type { Chunk } from '../core/manifest.js';
import type { PlanManifest } from '../core/plan/model.js';
import { parseTool } from '../core/registry/closure.js';
import { type Need, needsOf } from '../core/registry/needs.js';
import type { CheckResult } from '../core/result.js';
import { packRows, TextTable } from '../core/results-codec.js';
import { lackingOf, requiredBy, type ServingWorker } from '../core/routing.js';
import { unservedEvent } from '../core/routing-events.js';
import type { Scenario } from '../core/scenario/model.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import { guarded } from './guarded.js';
import { livingWorkers } from './living.js';
import { PLAYBOOKS } from './playbook.js';
import { firstResults } from './recorded.js';
import { checkPlaces, type ScenarioCache } from './scenarios.js';

export interface RoutingDeps {
  store: Store;
  clock: Clock;
  fleet: string;
  scenarios: Pick<ScenarioCache, 'get'>;
}

/** A check on the runner queue that has no result yet. */
interface Waiting {
  /** Position among the checks of its evaluation. */
  check: number;
  needs: readonly Need[];
}

const TOOLS_KEPT = 1000;
/** Chunks with a mark that one look goes through. */
const MARKS_LOOKED_AT = 200;

/**
 * Looks at which checks wait for a runner that no living worker has. Who lives is read once: one
 * of these is for one sweep.
 */
export class Routing {
  readonly #deps: RoutingDeps;
  readonly #needs = new LRUCache<string, readonly Need[]>({ max: TOOLS_KEPT });
  #workers: Promise<ServingWorker[]> | undefined;

  constructor(deps: RoutingDeps) {
    this.#deps = deps;
  }

  /** Notes the chunk with its event when no living worker serves it, and forgets that it did when one does. */
  async look(chunk: Chunk): Promise<void> {
    const { store } = this.#deps;
    if (!(await this.#mayWait(chunk))) return;
    const lacking = await this.#lacking(chunk);
    if (lacking.length === 0) return store.unserved.clear(chunk.id);
    await this.#note(chunk, lacking);
  }

  /** Looks again at what is noted, so that it is forgotten soon after a worker has come. */
  async lookAgain(): Promise<void> {
    const { store } = this.#deps;
    const marks = await store.unserved.list(MARKS_LOOKED_AT);
    if (marks.length === 0) return;
    const served = new Set((await this.#living()).flatMap(({ serves }) => serves));
    // As long as nothing of it is served, nothing of it has changed.
    const changed = marks.filter(({ needs }) => needs.some((need) => served.has(need)));
    const records = await store.evaluations.chunks(changed.map(({ chunk }) => chunk));
    for (const record of records) if (record !== undefined) await this.look(record.chunk);
  }

  /** Results for what waits in vain at the deadline, which say so. */
  async giveUp(chunk: Chunk): Promise<void> {
    const { store } = this.#deps;
    if (!(await this.#mayWait(chunk))) return;
    const [mark] = await store.unserved.list(1, [chunk.id]);
    const lacking = mark?.needs ?? (await this.#lacking(chunk)).needs;
    if (lacking.length === 0) return;
    const results: (CheckResult | undefined)[] = [];
    for (const { check, needs } of await this.#waiting(chunk)) {
      const isLacking = requiredBy(needs).some((need) => lacking.includes(need));
      if (isLacking) results[check] = neverServed(lacking, mark?.since);
    }
    if (results.length === 0) return;
    const table = new TextTable();
    const rows = packRows(table, Array.from(results));
    const evaluations = [{ position: 0, firstCheck: 0, rows }];
    await store.evaluations.record(chunk.id, { texts: table.texts, evaluations });
  }

  #living(): Promise<ServingWorker[]> {
    this.#workers ??= livingWorkers(this.#deps.store, this.#deps.clock);
    return this.#workers;
  }

  /** Cheap, and false for nearly all: evaluations with a runner have a chunk of their own (DESIGN 5.2). */
  async #mayWait(chunk: Chunk): Promise<boolean> {
    if (chunk.plan !== undefined) return chunk.plan.checks.some(({ runner }) => runner === 'runner');
    if (chunk.evaluations.length !== 1) return false;
    const scenario = await this.#scenarioOf(chunk);
    return scenario !== undefined && checkPlaces(scenario, chunk.options).includes('runner');
  }

  async #scenarioOf(chunk: Chunk): Promise<Scenario | undefined> {
    const digest = chunk.evaluations[0]?.scenario ?? '';
    return (await this.#deps.scenarios.get([digest])).get(digest);
  }

  /** What no living worker has, and how many checks wait for it. */
  async #lacking(chunk: Chunk): Promise<{ needs: Need[]; length: number }> {
    const workers = (await this.#living()).map(({ serves }) => serves);
    const lacking = (await this.#waiting(chunk))
      .map(({ needs }) => lackingOf(needs, workers))
      .filter((needs) => needs.length > 0);
    return { needs: [...new Set(lacking.flat())].sort(), length: lacking.length };
  }

  async #waiting(chunk: Chunk): Promise<Waiting[]> {
    const recorded = firstResults(await this.#deps.store.evaluations.recorded(chunk.id)).get(0) ?? [];
    const all = chunk.plan === undefined ? await this.#playbooks(chunk) : await this.#tools(chunk.plan);
    return all.filter(({ check }) => recorded[check] === undefined);
  }

  async #playbooks(chunk: Chunk): Promise<Waiting[]> {
    const scenario = await this.#scenarioOf(chunk);
    const places = scenario === undefined ? [] : checkPlaces(scenario, chunk.options);
    return places.flatMap((place, check) => (place === 'runner' ? [{ check, needs: PLAYBOOKS }] : []));
  }

  /** A check whose version is gone needs nothing: whoever takes it says that it is gone. */
  async #tools({ checks }: PlanManifest): Promise<Waiting[]> {
    const mine = checks.flatMap(({ runner, version }, check) =>
      runner === 'runner' ? [{ check, version }] : [],
    );
    const unknown = [...new Set(mine.map(({ version }) => version))].filter(
      (version) => !this.#needs.has(version),
    );
    const contents = await this.#deps.store.evaluations.blobs(unknown);
    unknown.forEach((version, i) => {
      const json = contents[i];
      const tool = json === undefined ? undefined : guarded(() => parseTool(json)).value;
      if (tool !== undefined) this.#needs.set(version, needsOf(tool));
    });
    return mine.map(({ check, version }) => ({ check, needs: this.#needs.get(version) ?? [] }));
  }

  async #note(chunk: Chunk, { needs, length }: { needs: Need[]; length: number }): Promise<void> {
    const { store, clock, fleet } = this.#deps;
    const [entry] = chunk.evaluations;
    if (entry === undefined) return;
    const key = chunk.plan === undefined ? (await this.#scenarioOf(chunk))?.key : undefined;
    const since = clock.now();
    const found = { needs, checks: length, since, workers: await this.#living() };
    const event = unservedEvent(fleet, chunk, entry, key ?? '', found);
    await store.unserved.note({ chunk: chunk.id, needs, since }, event);
  }
}

/** `since`: milliseconds since the epoch, where it was noted before. */
function neverServed(needs: readonly Need[], since: number | undefined): CheckResult {
  const from = since === undefined ? undefined : new Date(since).toISOString();
  const when = from === undefined ? 'at the deadline' : `from ${from} until the deadline`;
  return {
    outcome: 'error',
    message: `no result: no living worker served ${needs.join(' and ')} ${when}`,
    data: { reason: 'no_runner', needs, ...(from === undefined ? {} : { since: from }) },
    duration_ms: 0,
    tries: 0,
    worker: null,
    read_only: 'declared',
  };
}
