import type { OutboxEvent } from '../../core/events.js';
import type { UnservedChunk, UnservedStore } from '../../ports/store.js';

/** Chunks that wait for a worker which is not there. */
export class RedisUnserved implements UnservedStore {
  async note(_mark: UnservedChunk, _event: OutboxEvent): Promise<boolean> {
    return false;
  }

  async clear(_chunk: string): Promise<void> {}

  async list(_limit: number, _chunks?: readonly string[]): Promise<UnservedChunk[]> {
    return [];
  }
}
