import type { OutboxEvent } from '../../core/events.js';
import { isPlainObject } from '../../core/json.js';
import type { Chunk } from '../../core/manifest.js';
import type { PackResults, RecordedResults } from '../../core/results-codec.js';
import type {
  AcceptAnswer,
  Blob,
  ChunkRecord,
  CommitAnswer,
  DecisionToCommit,
  EvaluationStore,
  RecordedPage,
  StoredDecision,
} from '../../ports/store.js';
import type { MemoryState } from './state.js';

/** What a pack recorded; its text is made when it is asked for. */
class Recorded implements RecordedResults {
  readonly texts: readonly string[];
  readonly evaluations: PackResults['evaluations'];
  readonly #results: PackResults;
  readonly #stage: string;
  #stored: RecordedResults['stored'];

  constructor(results: PackResults, stage: string) {
    this.texts = results.texts;
    this.evaluations = results.evaluations;
    this.#results = results;
    this.#stage = stage;
  }

  get stored(): RecordedResults['stored'] {
    this.#stored ??= { stage: this.#stage, json: JSON.stringify(this.#results) };
    return this.#stored;
  }
}

/** Evaluations in memory; blobs are kept as long as the process. */
export class MemoryEvaluations implements EvaluationStore {
  readonly #state: MemoryState;

  constructor(state: MemoryState) {
    this.#state = state;
  }

  async accept(
    chunk: Chunk,
    blobs: readonly Blob[],
    events: readonly OutboxEvent[],
    checkAt: number,
  ): Promise<AcceptAnswer> {
    const state = this.#state;
    const alone = chunk.batch === '';
    const batch = alone ? undefined : state.batches.get(chunk.batch);
    const standing = chunk.evaluations.map(({ id }) => id).filter((id) => state.places.has(id));
    const all = standing.length === chunk.evaluations.length;
    if (!all && !alone && (batch?.record.state !== 'open' || batch.record.total !== null)) {
      return { accepted: false, reason: 'batch_closed' };
    }
    if (standing.length > 0) return { accepted: false, reason: 'standing', standing };
    if (state.outbox.length >= state.outboxCap) return { accepted: false, reason: 'outbox_full' };
    state.hold(blobs);
    chunk.evaluations.forEach(({ id }, position) => {
      state.places.set(id, { chunk: chunk.id, position });
    });
    const held = blobs.map(({ digest }) => digest);
    state.chunks.set(chunk.id, {
      chunk,
      generation: 1,
      checkAt,
      recorded: [],
      decisions: new Map(),
      held,
      told: 0,
    });
    if (batch !== undefined) {
      batch.chunks.push({ id: chunk.id, firstIndex: chunk.evaluations[0]?.index ?? 0 });
      batch.record.accepted += chunk.evaluations.length;
    }
    state.append(events);
    return { accepted: true };
  }

  async locate(evaluations: readonly string[]): Promise<({ chunk: string; position: number } | undefined)[]> {
    return evaluations.map((id) => this.#state.places.get(id));
  }

  async blobs(digests: readonly string[]): Promise<(string | undefined)[]> {
    return digests.map((digest) => this.#state.blobs.get(digest));
  }

  async chunk(id: string): Promise<ChunkRecord | undefined> {
    const found = this.#state.chunks.get(id);
    return found && { chunk: found.chunk, generation: found.generation };
  }

  async chunks(ids: readonly string[]): Promise<(ChunkRecord | undefined)[]> {
    return Promise.all(ids.map((id) => this.chunk(id)));
  }

  async deferCheck(id: string, checkAt: number): Promise<void> {
    const chunk = this.#state.chunks.get(id);
    if (chunk !== undefined) chunk.checkAt = checkAt;
  }

  async dueChunks(now: number, limit: number): Promise<string[]> {
    return [...this.#state.chunks.values()]
      .filter((c) => c.checkAt <= now && c.decisions.size < c.chunk.evaluations.length)
      .sort((a, b) => a.checkAt - b.checkAt)
      .slice(0, limit)
      .map((c) => c.chunk.id);
  }

  async raiseGeneration(id: string, expected: number, checkAt: number): Promise<number | undefined> {
    const chunk = this.#state.chunks.get(id);
    if (chunk === undefined || chunk.generation !== expected) return undefined;
    if (chunk.decisions.size === chunk.chunk.evaluations.length) return undefined;
    chunk.checkAt = checkAt;
    chunk.generation += 1;
    return chunk.generation;
  }

  async record(id: string, results: PackResults): Promise<'stored' | 'late'> {
    const chunk = this.#state.chunks.get(id);
    if (chunk === undefined || chunk.decisions.size === chunk.chunk.evaluations.length) {
      this.#state.late.push({ chunk: id, results });
      return 'late';
    }
    const stage = String(chunk.recorded.length);
    chunk.recorded.push(isPlainObject(results) ? new Recorded(results, stage) : results);
    return 'stored';
  }

  async recorded(id: string): Promise<RecordedResults[]> {
    return [...(this.#state.chunks.get(id)?.recorded ?? [])];
  }

  async recordedPage(id: string): Promise<RecordedPage> {
    return { results: await this.recorded(id), next: undefined };
  }

  async stage(id: string, stage: string, text: AsyncIterable<string>): Promise<void> {
    let whole = '';
    for await (const bit of text) whole += bit;
    const chunk = this.#state.chunks.get(id);
    if (chunk !== undefined) chunk.staged = { stage, text: whole };
  }

  async *blobPieces(digest: string): AsyncGenerator<string> {
    const content = this.#state.blobs.get(digest);
    if (content !== undefined) yield content;
  }

  async announce(id: string, told: number, events: readonly OutboxEvent[]): Promise<void> {
    const chunk = this.#state.chunks.get(id);
    if (chunk === undefined || chunk.decisions.size > 0 || told > chunk.told) return;
    this.#state.append(events.slice(chunk.told - told));
    chunk.told = Math.max(chunk.told, told + events.length);
  }

  async commit(
    { id, batch: batchId }: Chunk,
    stage: string,
    given: string | null,
    decisions: readonly DecisionToCommit[],
  ): Promise<CommitAnswer> {
    const state = this.#state;
    const chunk = state.chunks.get(id);
    if (chunk === undefined) return { fresh: [], chunkDone: false, batch: undefined };
    const batch = state.batches.get(batchId);
    const results =
      given ??
      (chunk.staged?.stage === stage ? chunk.staged.text : undefined) ??
      chunk.recorded[Number(stage)]?.stored?.json ??
      '{}';
    const fresh: number[] = [];
    for (const { position, json, status, vacuousPasses, events } of decisions) {
      if (chunk.decisions.has(position)) continue;
      chunk.decisions.set(position, { position, decision: json, results });
      fresh.push(position);
      state.append(events);
      if (batch === undefined) continue;
      batch.record.decided += 1;
      batch.record[status] += 1;
      batch.record.vacuousPasses += vacuousPasses;
    }
    const chunkDone = chunk.decisions.size === chunk.chunk.evaluations.length;
    if (chunkDone) chunk.recorded = [];
    if (fresh.length > 0) batch?.log.push({ chunk: id, positions: fresh });
    state.wake();
    return { fresh, chunkDone, batch: batch && { ...batch.record } };
  }

  async decisions(id: string, positions?: readonly number[]): Promise<StoredDecision[]> {
    const decisions = this.#state.chunks.get(id)?.decisions;
    if (decisions === undefined) return [];
    const wanted = positions ?? [...decisions.keys()].sort((a, b) => a - b);
    return wanted.flatMap((position) => decisions.get(position) ?? []);
  }
}
