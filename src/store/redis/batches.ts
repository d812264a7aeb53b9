import type { Redis } from 'ioredis';
import type { BatchOpening, BatchRecord, BatchState } from '../../core/batch.js';
import type { OutboxEvent } from '../../core/events.js';
import type { BatchStore, Blob, ChunkPlace, DecidedEntry } from '../../ports/store.js';
import type { RedisContext } from './context.js';
import { blobArgs, withPieces } from './pieces.js';
import { UNSWEPT_MS } from './retention.js';

const LOG_PAGE = 500;

function recordOf(hash: Record<string, string>): BatchRecord | undefined {
  if (hash.opening === undefined) return undefined;
  const opening = JSON.parse(hash.opening) as BatchOpening;
  return {
    ...opening,
    state: hash.state as BatchState,
    total: hash.total === undefined ? null : Number(hash.total),
    accepted: Number(hash.accepted),
    decided: Number(hash.decided),
    passed: Number(hash.passed),
    failed: Number(hash.failed),
    errored: Number(hash.errored),
    vacuousPasses: Number(hash.vacuous),
    completedAt: hash.completed_at === undefined ? null : Number(hash.completed_at),
  };
}

function placesIn(reply: readonly string[]): ChunkPlace[] {
  const places: ChunkPlace[] = [];
  for (let i = 0; i + 1 < reply.length; i += 2) {
    places.push({ id: reply[i] as string, firstIndex: Number(reply[i + 1]) });
  }
  return places;
}

const isBehind = (place: ChunkPlace, after: ChunkPlace) =>
  place.firstIndex > after.firstIndex || (place.firstIndex === after.firstIndex && place.id > after.id);

type StreamReply = [key: string, entries: [id: string, fields: string[]][]][] | null;

/** Batches in Redis: a hash, its chunks by input position, and a log of what was decided. */
export class RedisBatches implements BatchStore {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  #key(id: string): string {
    return `${this.#context.prefix}batch:${id}`;
  }

  async openBatch(
    opening: BatchOpening,
    kept: { blobs: readonly Blob[]; leaseMs: number } = { blobs: [], leaseMs: 0 },
  ): Promise<BatchRecord> {
    const { scripts, prefix } = this.#context;
    const { blobs, leaseMs } = kept;
    const args = [opening.id, JSON.stringify(opening), opening.createdAt, leaseMs, ...blobArgs(blobs)];
    const run = () => scripts['open-batch'](prefix, ...args);
    await withPieces(this.#context, blobs, leaseMs, run, (answer) => answer === 0);
    const batch = await this.batch(opening.id);
    if (batch === undefined) throw new Error(`batch ${opening.id} vanished while it was opened`);
    return batch;
  }

  async batch(id: string): Promise<BatchRecord | undefined> {
    return recordOf(await this.#context.client.hgetall(this.#key(id)));
  }

  async sealBatch(id: string, total: number): Promise<BatchRecord | undefined> {
    await this.#context.scripts['seal-batch'](this.#context.prefix, id, total);
    return this.batch(id);
  }

  async completeBatch(id: string, now: number, event: OutboxEvent | null): Promise<boolean> {
    const batch = await this.batch(id);
    if (batch === undefined) return false;
    const { scripts, prefix } = this.#context;
    return (
      (await scripts['complete-batch'](
        prefix,
        id,
        now,
        event?.json ?? '',
        batch.retentionMs,
        batch.retentionMs + UNSWEPT_MS,
      )) === 1
    );
  }

  async progressBatch(id: string, step: number, event: OutboxEvent): Promise<boolean> {
    const { scripts, prefix } = this.#context;
    return (await scripts['progress-batch'](prefix, id, step, event.json)) === 1;
  }

  async unfinishedBatches(): Promise<string[]> {
    const { client, prefix } = this.#context;
    const ids = await client.zrange(`${prefix}batches`, '0', '-1');
    const records = await Promise.all(ids.map((id) => this.batch(id)));
    return ids.filter((_, i) => {
      const batch = records[i];
      return (
        batch !== undefined && batch.state === 'open' && batch.total !== null && batch.decided >= batch.total
      );
    });
  }

  async chunksOf(
    batch: string,
    page?: { after: ChunkPlace | undefined; count: number },
  ): Promise<ChunkPlace[]> {
    const { client } = this.#context;
    const key = `${this.#key(batch)}:chunks`;
    if (page === undefined) return placesIn(await client.zrange(key, '0', '-1', 'WITHSCORES'));
    const { after, count } = page;
    const least = after?.firstIndex ?? '-inf';
    const found: ChunkPlace[] = [];
    // Those of the same index stand by id: what lies behind the place may begin further on.
    for (let offset = 0; found.length < count; offset += count) {
      const reply = await client.zrangebyscore(key, least, '+inf', 'WITHSCORES', 'LIMIT', offset, count);
      found.push(...placesIn(reply).filter((place) => after === undefined || isBehind(place, after)));
      if (reply.length < 2 * count) break;
    }
    return found.slice(0, count);
  }

  async decidedSince(
    batch: string,
    cursor: string,
    waitMs: number,
  ): Promise<{ entries: DecidedEntry[]; cursor: string }> {
    const from = cursor === '' ? '0-0' : cursor;
    const log = `${this.#key(batch)}:log`;
    const read = (client: Redis) =>
      waitMs > 0
        ? client.xread('COUNT', LOG_PAGE, 'BLOCK', waitMs, 'STREAMS', log, from)
        : client.xread('COUNT', LOG_PAGE, 'STREAMS', log, from);
    // Batches come and go: a connection for each would stay for good.
    const { client, whileWaiting } = this.#context;
    const reply = (waitMs > 0 ? await whileWaiting(read) : await read(client)) as StreamReply;
    const found = reply?.[0]?.[1] ?? [];
    const entries: DecidedEntry[] = [];
    for (const [, fields] of found) {
      if (fields[0] !== 'c') continue;
      entries.push({ chunk: fields[1] as string, positions: (fields[3] ?? '').split(',').map(Number) });
    }
    return { entries, cursor: found.at(-1)?.[0] ?? cursor };
  }
}
