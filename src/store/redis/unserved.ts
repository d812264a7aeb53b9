import type { OutboxEvent } from '../../core/events.js';
import { unwrap } from '../../core/pipeline.js';
import type { Need } from '../../core/registry/needs.js';
import type { UnservedChunk, UnservedStore } from '../../ports/store.js';
import type { RedisContext } from './context.js';

/** Chunks that wait for a worker which is not there: a sorted set by time, and beside it their needs. */
export class RedisUnserved implements UnservedStore {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  async note({ chunk, needs, since }: UnservedChunk, event: OutboxEvent): Promise<boolean> {
    const { scripts, prefix } = this.#context;
    const sorted = JSON.stringify([...needs].sort());
    return (await scripts['note-unserved'](prefix, chunk, sorted, since, event.json)) === 1;
  }

  async clear(chunk: string): Promise<void> {
    const { client, prefix } = this.#context;
    const clearing = client.multi().zrem(`${prefix}unserved`, chunk).hdel(`${prefix}unserved:needs`, chunk);
    unwrap(await clearing.exec());
  }

  async list(limit: number, chunks?: readonly string[]): Promise<UnservedChunk[]> {
    if (limit < 1 || chunks?.length === 0) return [];
    const { scripts, prefix } = this.#context;
    const found = (await scripts['list-unserved'](prefix, limit, ...(chunks ?? []))) as string[];
    const listed: UnservedChunk[] = [];
    for (let i = 0; i < found.length; i += 3) {
      const [chunk = '', needs = '[]', since = '0'] = found.slice(i, i + 3);
      listed.push({ chunk, needs: JSON.parse(needs) as Need[], since: Number(since) });
    }
    return listed;
  }
}
