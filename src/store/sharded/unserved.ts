import type { OutboxEvent } from '../../core/events.js';
import type { UnservedChunk, UnservedStore } from '../../ports/store.js';
import type { Shards } from './shards.js';

/** Chunks that wait for a worker, each in its shard. */
export class ShardedUnserved implements UnservedStore {
  readonly #shards: Shards;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  async note(mark: UnservedChunk, event: OutboxEvent): Promise<boolean> {
    return (await this.#shards.of(mark.chunk)).unserved.note(mark, event);
  }

  async clear(chunk: string): Promise<void> {
    return (await this.#shards.of(chunk)).unserved.clear(chunk);
  }

  async list(limit: number, chunks?: readonly string[]): Promise<UnservedChunk[]> {
    // A shard that has not the chunk knows no mark of it.
    const lists = await this.#shards.each(({ unserved }) => unserved.list(limit, chunks));
    const all = lists.flat().sort((a, b) => a.since - b.since || (a.chunk < b.chunk ? -1 : 1));
    return all.slice(0, limit);
  }
}
