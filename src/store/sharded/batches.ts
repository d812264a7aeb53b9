import { type BatchOpening, type BatchRecord, isComplete } from '../../core/batch.js';
import type { OutboxEvent } from '../../core/events.js';
import type { BatchStore, Blob, ChunkPlace, DecidedEntry } from '../../ports/store.js';
import { News } from './news.js';
import type { Shards } from './shards.js';

type Page = { entries: DecidedEntry[]; cursor: string };

const byPlace = (a: ChunkPlace, b: ChunkPlace): number =>
  a.firstIndex - b.firstIndex || (a.id < b.id ? -1 : Number(a.id > b.id));

/** A batch as its parts have it: state and total are those of its home, counts the sums. */
function mergedOf(parts: readonly (BatchRecord | undefined)[]): BatchRecord | undefined {
  const [home] = parts;
  if (home === undefined) return undefined;
  const sum = (count: (part: BatchRecord) => number) =>
    parts.reduce((total, part) => total + (part === undefined ? 0 : count(part)), 0);
  return {
    ...home,
    total: home.total === null ? null : sum(({ total }) => total ?? 0),
    accepted: sum(({ accepted }) => accepted),
    decided: sum(({ decided }) => decided),
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    errored: sum(({ errored }) => errored),
    vacuousPasses: sum(({ vacuousPasses }) => vacuousPasses),
  };
}

/** Cursors of the logs of all parts, in one. */
export const cursorsIn = (cursor: string, count: number): string[] => {
  const given = cursor.split(',');
  return Array.from({ length: count }, (_, n) => given[n] ?? '');
};

const cursorOf = (cursors: readonly string[]): string =>
  cursors.every((cursor) => cursor === '') ? '' : cursors.join(',');

/**
 * Batches over several shards. Each shard has a part, with the counts and the log of its own evaluations; the
 * part in the home says how the batch stands, and has its one completion.
 */
export class ShardedBatches implements BatchStore {
  readonly #shards: Shards;
  readonly #news = new News<Page>();

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  /** In the home first: what stands there is what the other parts are opened with. */
  async openBatch(
    opening: BatchOpening,
    kept?: { blobs: readonly Blob[]; leaseMs: number },
  ): Promise<BatchRecord> {
    const { home, all } = this.#shards;
    const stands = await home.batches.openBatch(opening, kept);
    const standing = openingOf(stands);
    const others = await Promise.all(all.slice(1).map(({ batches }) => batches.openBatch(standing)));
    return mergedOf([stands, ...others]) as BatchRecord;
  }

  /** Opens the part of an open batch that a shard lacks; false: the batch takes nothing more. */
  async openPart(id: string, shard: number): Promise<boolean> {
    const { home } = this.#shards;
    const [stands, part] = await Promise.all([
      home.batches.batch(id),
      this.#shards.at(shard).batches.batch(id),
    ]);
    if (stands === undefined || stands.state !== 'open' || stands.total !== null || part !== undefined)
      return false;
    await this.#shards.at(shard).batches.openBatch(openingOf(stands));
    return true;
  }

  async batch(id: string): Promise<BatchRecord | undefined> {
    return mergedOf(await this.#shards.each(({ batches }) => batches.batch(id)));
  }

  /**
   * The home's seal is the last one: then no part takes anything more, and its own total makes up for what the
   * others have.
   */
  async sealBatch(id: string, total: number): Promise<BatchRecord | undefined> {
    const { home, all } = this.#shards;
    const stands = await home.batches.batch(id);
    if (stands === undefined) return undefined;
    if (stands.total === null) {
      const others = await Promise.all(
        all.slice(1).map(async ({ batches }) => {
          // One that comes too late would else be opened beside the seal.
          await batches.openBatch(openingOf(stands));
          return batches.sealBatch(id, 0);
        }),
      );
      const elsewhere = others.reduce((sum, part) => sum + (part?.total ?? 0), 0);
      await home.batches.sealBatch(id, total - elsewhere);
    }
    return this.batch(id);
  }

  /** The home first, whose compare-and-set is the completion of all; then the others, which only end. */
  async completeBatch(id: string, now: number, event: OutboxEvent | null): Promise<boolean> {
    const batch = await this.batch(id);
    if (batch === undefined || !isComplete(batch)) return false;
    const completed = await this.#shards.home.batches.completeBatch(id, now, event);
    await this.#endParts(id, now);
    return completed;
  }

  async #endParts(id: string, now: number): Promise<void> {
    const others = this.#shards.all.slice(1);
    await Promise.all(others.map(({ batches }) => batches.completeBatch(id, now, null)));
  }

  progressBatch(id: string, step: number, event: OutboxEvent): Promise<boolean> {
    return this.#shards.home.batches.progressBatch(id, step, event);
  }

  /** Ends on the way the parts of those that are over: whoever completed the batch may have died over it. */
  async unfinishedBatches(): Promise<string[]> {
    const candidates = await this.#shards.each(({ batches }) => batches.unfinishedBatches());
    const unfinished: string[] = [];
    for (const id of new Set(candidates.flat())) {
      const batch = await this.batch(id);
      if (batch?.state === 'open') {
        if (isComplete(batch)) unfinished.push(id);
      } else await this.#endParts(id, batch?.completedAt ?? 0);
    }
    return unfinished;
  }

  async chunksOf(id: string, page?: { after: ChunkPlace | undefined; count: number }): Promise<ChunkPlace[]> {
    const lists = await this.#shards.each(({ batches }) => batches.chunksOf(id, page));
    const all = lists.flat().sort(byPlace);
    return page === undefined ? all : all.slice(0, page.count);
  }

  async decidedSince(id: string, cursor: string, waitMs: number): Promise<Page> {
    const { count } = this.#shards;
    const cursors = cursorsIn(cursor, count);
    const read = async (): Promise<Page> => {
      const pages = await this.#shards.each(async ({ batches }, shard) => {
        const from = cursors[shard] ?? '';
        if (this.#news.isWaiting(`${id}/${shard}`, from)) return { entries: [], cursor: from };
        return batches.decidedSince(id, from, 0);
      });
      return {
        entries: pages.flatMap(({ entries }) => entries),
        cursor: cursorOf(pages.map((page) => page.cursor)),
      };
    };
    const page = await read();
    if (page.cursor !== cursorOf(cursors) || waitMs < 1) return page;
    await this.#news.first(
      this.#shards.all.map(({ batches }, shard) => {
        const from = cursors[shard] ?? '';
        return { key: `${id}/${shard}`, from, read: () => batches.decidedSince(id, from, waitMs) };
      }),
    );
    return read();
  }
}

/** What a batch was opened with. */
function openingOf({ id, createdAt, options, scenarios, retentionMs, ...rest }: BatchRecord): BatchOpening {
  const {
    state: _state,
    total: _total,
    accepted: _accepted,
    decided: _decided,
    passed: _passed,
    failed: _failed,
    errored: _errored,
    vacuousPasses: _vacuousPasses,
    completedAt: _completedAt,
    ...more
  } = rest;
  return { ...more, id, createdAt, options, scenarios, retentionMs };
}
