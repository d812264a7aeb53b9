import { type BatchOpening, type BatchRecord, isComplete } from '../../core/batch.js';
import type { OutboxEvent } from '../../core/events.js';
import type { BatchStore, Blob, ChunkPlace, DecidedEntry } from '../../ports/store.js';
import type { MemoryState } from './state.js';

const byPlace = (a: ChunkPlace, b: ChunkPlace) =>
  a.firstIndex - b.firstIndex || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Batches in memory. */
export class MemoryBatches implements BatchStore {
  readonly #state: MemoryState;

  constructor(state: MemoryState) {
    this.#state = state;
  }

  async openBatch(
    opening: BatchOpening,
    kept: { blobs: readonly Blob[] } = { blobs: [] },
  ): Promise<BatchRecord> {
    let batch = this.#state.batches.get(opening.id);
    if (batch === undefined) {
      const record: BatchRecord = {
        ...structuredClone(opening),
        state: 'open',
        total: null,
        accepted: 0,
        decided: 0,
        passed: 0,
        failed: 0,
        errored: 0,
        vacuousPasses: 0,
        completedAt: null,
      };
      const marks = { kept: new Set<string>(), followers: new Map(), gone: 0, goneTo: 0 };
      batch = { record, chunks: [], log: [], step: 0, ...marks };
      this.#state.batches.set(opening.id, batch);
    }
    const { kept: held } = batch;
    this.#state.hold(kept.blobs.filter(({ digest }) => !held.has(digest)));
    for (const { digest } of kept.blobs) held.add(digest);
    return structuredClone(batch.record);
  }

  async batch(id: string): Promise<BatchRecord | undefined> {
    const batch = this.#state.batches.get(id);
    return batch && structuredClone(batch.record);
  }

  async sealBatch(id: string, total: number): Promise<BatchRecord | undefined> {
    const batch = this.#state.batches.get(id);
    if (batch !== undefined) batch.record.total ??= Math.max(total, batch.record.accepted);
    return this.batch(id);
  }

  async completeBatch(id: string, now: number, event: OutboxEvent | null): Promise<boolean> {
    const batch = this.#state.batches.get(id);
    if (batch === undefined || batch.record.state !== 'open' || !isComplete(batch.record)) return false;
    batch.record.state = 'completed';
    batch.record.completedAt = now;
    if (event !== null) this.#state.append([event]);
    this.#state.wake();
    return true;
  }

  async progressBatch(id: string, step: number, event: OutboxEvent): Promise<boolean> {
    const batch = this.#state.batches.get(id);
    if (batch === undefined || batch.record.state !== 'open' || batch.step >= step) return false;
    batch.step = step;
    this.#state.append([event]);
    return true;
  }

  async unfinishedBatches(): Promise<string[]> {
    return [...this.#state.batches.values()]
      .filter(({ record }) => record.state === 'open' && isComplete(record))
      .map(({ record }) => record.id);
  }

  async chunksOf(id: string, page?: { after: ChunkPlace | undefined; count: number }): Promise<ChunkPlace[]> {
    const chunks = [...(this.#state.batches.get(id)?.chunks ?? [])].sort(byPlace);
    if (page === undefined) return chunks;
    const { after, count } = page;
    return chunks.filter((chunk) => after === undefined || byPlace(chunk, after) > 0).slice(0, count);
  }

  async decidedSince(
    id: string,
    cursor: string,
    waitMs: number,
  ): Promise<{ entries: DecidedEntry[]; cursor: string }> {
    const from = Number(cursor || 0);
    const log = () => this.#state.batches.get(id)?.log ?? [];
    const ended = () => this.#state.batches.get(id)?.record.state !== 'open';
    if (log().length <= from && !ended()) await this.#state.changed(waitMs);
    const entries = log().slice(from);
    return { entries, cursor: String(from + entries.length) };
  }
}
