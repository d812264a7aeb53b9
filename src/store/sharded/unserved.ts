import type { OutboxEvent } from '../../core/events.js';
import { shardOf } from '../../core/shards.js';
import type { UnservedChunk, UnservedStore } from '../../ports/store.js';
import type { Shards } from './shards.js';

/** Chunks that wait for a worker, each in its shard. */
export class ShardedUnserved implements UnservedStore {
  readonly #shards: Shards;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  note(mark: UnservedChunk, event: OutboxEvent): Promise<boolean> {
    return this.#shards.of(mark.chunk).unserved.note(mark, event);
  }

  clear(chunk: string): Promise<void> {
    return this.#shards.of(chunk).unserved.clear(chunk);
  }

  async list(limit: number, chunks?: readonly string[]): Promise<UnservedChunk[]> {
    const { count } = this.#shards;
    const lists = await this.#shards.each(({ unserved }, shard) =>
      unserved.list(
        limit,
        chunks?.filter((chunk) => shardOf(chunk, count) === shard),
      ),
    );
    const all = lists.flat().sort((a, b) => a.since - b.since || (a.chunk < b.chunk ? -1 : 1));
    return all.slice(0, limit);
  }
}
