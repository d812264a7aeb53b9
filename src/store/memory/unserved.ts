import type { OutboxEvent } from '../../core/events.js';
import type { UnservedChunk, UnservedStore } from '../../ports/store.js';
import type { MemoryState } from './state.js';

/** Chunks that wait for a worker which is not there. */
export class MemoryUnserved implements UnservedStore {
  readonly #state: MemoryState;
  readonly #marks = new Map<string, UnservedChunk>();

  constructor(state: MemoryState) {
    this.#state = state;
  }

  #isOpen(id: string): boolean {
    const chunk = this.#state.chunks.get(id);
    return chunk !== undefined && chunk.decisions.size < chunk.chunk.evaluations.length;
  }

  async note({ chunk, needs, since }: UnservedChunk, event: OutboxEvent): Promise<boolean> {
    if (!this.#isOpen(chunk)) return false;
    const sorted = [...needs].sort();
    if (this.#marks.get(chunk)?.needs.join('\n') === sorted.join('\n')) return false;
    this.#marks.set(chunk, { chunk, needs: sorted, since });
    this.#state.append([event]);
    return true;
  }

  async clear(chunk: string): Promise<void> {
    this.#marks.delete(chunk);
  }

  async list(limit: number, chunks?: readonly string[]): Promise<UnservedChunk[]> {
    for (const chunk of [...this.#marks.keys()]) if (!this.#isOpen(chunk)) this.#marks.delete(chunk);
    const wanted = chunks === undefined ? undefined : new Set(chunks);
    return [...this.#marks.values()]
      .filter(({ chunk }) => wanted?.has(chunk) ?? true)
      .sort((a, b) => a.since - b.since || (a.chunk < b.chunk ? -1 : 1))
      .slice(0, limit)
      .map((mark) => ({ ...mark, needs: [...mark.needs] }));
  }
}
