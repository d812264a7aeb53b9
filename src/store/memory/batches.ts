import { type BatchOpening, type BatchRecord, isComplete } from '../../core/batch.js';
import type { OutboxEvent } from '../../core/events.js';
import type { BatchStore, DecidedEntry } from '../../ports/store.js';
import type { MemoryState } from './state.js';

/** Batches in memory. */
export class MemoryBatches implements BatchStore {
  readonly #state: MemoryState;

  constructor(state: MemoryState) {
    this.#state = state;
  }

  async openBatch(opening: BatchOpening): Promise<BatchRecord> {
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
      batch = { record, chunks: [], log: [], step: 0 };
      this.#state.batches.set(opening.id, batch);
    }
    return structuredClone(batch.record);
  }

  async batch(id: string): Promise<BatchRecord | undefined> {
    const batch = this.#state.batches.get(id);
    return batch && structuredClone(batch.record);
  }

  async sealBatch(id: string, total: number): Promise<BatchRecord | undefined> {
    const batch = this.#state.batches.get(id);
    if (batch !== undefined) batch.record.total ??= total;
    return this.batch(id);
  }

  async completeBatch(id: string, now: number, event: OutboxEvent): Promise<boolean> {
    const batch = this.#state.batches.get(id);
    if (batch === undefined || batch.record.state !== 'open' || !isComplete(batch.record)) return false;
    batch.record.state = 'completed';
    batch.record.completedAt = now;
    this.#state.append([event]);
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

  async chunksOf(id: string): Promise<{ id: string; firstIndex: number }[]> {
    const chunks = this.#state.batches.get(id)?.chunks ?? [];
    return [...chunks].sort((a, b) => a.firstIndex - b.firstIndex);
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
