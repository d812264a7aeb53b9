import type { Decision } from '../core/decision.js';
import type { IndexedEvaluation } from '../core/document.js';
import type { CheckResult } from '../core/result.js';
import { type ChunkResults, parseChunkResults, unpackRows } from '../core/results-codec.js';
import { materialize } from '../core/scenario/materialize.js';
import type { DecidedEntry, Store } from '../ports/store.js';
import { ScenarioCache } from './scenarios.js';

/** Reads decided evaluations as the documents that users see. */
export class EvaluationReader {
  readonly #store: Store;
  readonly #scenarios: ScenarioCache;

  constructor(store: Store) {
    this.#store = store;
    this.#scenarios = new ScenarioCache(store.evaluations);
  }

  /** The decided evaluations of a chunk, in the order of its manifest. */
  async ofChunk(id: string, positions?: readonly number[]): Promise<IndexedEvaluation[]> {
    const [record, decided] = await Promise.all([
      this.#store.evaluations.chunk(id),
      this.#store.evaluations.decisions(id, positions),
    ]);
    if (record === undefined) return [];
    const { chunk } = record;
    const scenarios = await this.#scenarios.get(chunk.evaluations.map((entry) => entry.scenario));
    const staged = new Map<string, ChunkResults>();
    return decided.flatMap(({ position, decision: json, results: packed }) => {
      const entry = chunk.evaluations[position];
      if (entry === undefined) return [];
      const decision = JSON.parse(json) as Decision;
      const scenario = scenarios.get(entry.scenario);
      const all = staged.get(packed) ?? parseChunkResults(packed);
      staged.set(packed, all);
      const results = unpackRows(all.texts, all.rows[position]) as CheckResult[];
      return {
        index: entry.index,
        id: entry.id,
        run: entry.run,
        case: entry.case,
        scenario: decision.scenarioKey,
        scenario_digest: entry.scenario,
        subject_digest: entry.subject,
        passed: decision.passed,
        score: decision.score,
        gates: decision.gates,
        results: scenario === undefined ? [] : materialize(scenario, entry, chunk, results),
      };
    });
  }

  /** All decided evaluations of a batch in input order; holds a few chunks at a time. */
  async *inInputOrder(batch: string): AsyncGenerator<IndexedEvaluation> {
    const chunks = await this.#store.batches.chunksOf(batch);
    let waiting: IndexedEvaluation[] = [];
    for (let i = 0; i < chunks.length; i++) {
      const chunk = chunks[i] as (typeof chunks)[number];
      waiting.push(...(await this.ofChunk(chunk.id)));
      waiting.sort((a, b) => a.index - b.index);
      const next = chunks[i + 1]?.firstIndex ?? Number.POSITIVE_INFINITY;
      const ready = waiting.findIndex((evaluation) => evaluation.index >= next);
      const count = ready < 0 ? waiting.length : ready;
      yield* waiting.slice(0, count);
      waiting = waiting.slice(count);
    }
  }

  /**
   * What is decided, as it is decided, until the batch is complete or the signal aborts. `onWait` is called
   * whenever nothing came for a while, `onRead` when all up to a cursor of the batch's log was taken.
   */
  async *inDecisionOrder(
    batch: string,
    signal: AbortSignal,
    hooks: { onWait?(): Promise<void>; onRead?(cursor: string): void } = {},
  ): AsyncGenerator<DecidedEntry> {
    const { batches } = this.#store;
    let cursor = '';
    while (!signal.aborted) {
      const page = await batches.decidedSince(batch, cursor, 0);
      cursor = page.cursor;
      yield* page.entries;
      hooks.onRead?.(cursor);
      if (page.entries.length > 0) continue;
      const state = (await batches.batch(batch))?.state;
      const waited = await batches.decidedSince(batch, cursor, state === 'open' ? 500 : 0);
      cursor = waited.cursor;
      yield* waited.entries;
      hooks.onRead?.(cursor);
      if (waited.entries.length > 0) continue;
      if (state !== 'open') return;
      await hooks.onWait?.();
    }
  }
}
