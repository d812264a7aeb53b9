import type { Forgotten, RetentionRules, RetentionStore } from '../../ports/retention.js';
import type { MemoryState } from './state.js';

/** Evaluations that one step takes away at the most, give or take a chunk. */
const STEP = 500;

/** Retention of batches in memory. */
export class MemoryRetention implements RetentionStore {
  readonly #state: MemoryState;

  constructor(state: MemoryState) {
    this.#state = state;
  }

  async follow(batch: string, follower: string, cursor: string, now: number, forMs: number): Promise<void> {
    const mark = { until: now + forMs, cursor: Number(cursor || 0) };
    this.#state.batches.get(batch)?.followers.set(follower, mark);
  }

  async unfollow(batch: string, follower: string): Promise<void> {
    this.#state.batches.get(batch)?.followers.delete(follower);
  }

  /** Up to where everybody has read it; undefined when nobody reads it. */
  #readTo(id: string, now: number): number | undefined {
    const followers = [...(this.#state.batches.get(id)?.followers.values() ?? [])];
    const cursors = followers.filter(({ until }) => until > now).map(({ cursor }) => cursor);
    return cursors.length === 0 ? undefined : Math.min(...cursors);
  }

  async forget(now: number, rules: RetentionRules): Promise<Forgotten> {
    const forgotten: Forgotten = { evaluations: 0, batches: 0, isMore: false };
    for (const id of this.#overdue(now, rules.batches)) {
      if (this.#readTo(id, now) === undefined) this.#dropBatch(id, forgotten);
    }
    for (const id of this.#state.batches.keys())
      this.#thin(id, this.#readTo(id, now), rules.evaluations, forgotten);
    forgotten.isMore = forgotten.evaluations >= STEP;
    return forgotten;
  }

  #overdue(now: number, kept: number): string[] {
    const ended = [...this.#state.batches.values()]
      .filter(({ record }) => record.state === 'completed')
      .map(({ record }) => ({ id: record.id, until: (record.completedAt ?? 0) + record.retentionMs }))
      .sort((a, b) => a.until - b.until);
    const excess = ended.length - kept;
    return ended.filter(({ until }, i) => until <= now || i < excess).map(({ id }) => id);
  }

  #dropBatch(id: string, forgotten: Forgotten): void {
    const { batches } = this.#state;
    const batch = batches.get(id);
    for (const chunk of [...(batch?.chunks ?? [])]) {
      if (forgotten.evaluations >= STEP) return;
      forgotten.evaluations += this.#dropChunk(id, chunk.id) ?? 0;
    }
    this.#state.letGo([...(batch?.kept ?? [])]);
    batches.delete(id);
    forgotten.batches += 1;
  }

  #thin(id: string, readTo: number | undefined, kept: number, forgotten: Forgotten): void {
    const batch = this.#state.batches.get(id);
    if (batch === undefined) return;
    let excess = batch.record.decided - batch.gone - kept;
    for (const entry of batch.log.slice(batch.goneTo, readTo)) {
      const count = entry.positions.length;
      if (count > excess || forgotten.evaluations >= STEP) return;
      const gone = this.#dropChunk(id, entry.chunk);
      if (gone === undefined) return;
      excess -= count;
      batch.gone += count;
      batch.goneTo += 1;
      forgotten.evaluations += gone;
    }
  }

  /** How many evaluations went; undefined: the chunk is not decided. */
  #dropChunk(batchId: string, id: string): number | undefined {
    const { chunks, places, batches } = this.#state;
    const found = chunks.get(id);
    const evaluations = found?.chunk.evaluations ?? [];
    if (found !== undefined && found.decisions.size < evaluations.length) return undefined;
    const batch = batches.get(batchId);
    if (batch !== undefined) batch.chunks = batch.chunks.filter((chunk) => chunk.id !== id);
    for (const evaluation of evaluations) places.delete(evaluation.id);
    this.#state.letGo(found?.held ?? []);
    chunks.delete(id);
    return evaluations.length;
  }
}
