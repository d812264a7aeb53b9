import { compareIds, cursorsOf, placeOf, positionOf } from '../../core/positions.js';
import type { Outbox, OutboxEntry } from '../../ports/store.js';
import { News } from './news.js';
import type { Shards } from './shards.js';

type Found = { shard: number; entry: OutboxEntry };

/**
 * The outboxes of several shards as one. Events of one subject are in one shard and keep their order; across
 * shards they come about in the order of their times. Each shard has its own place of every reader.
 */
export class ShardedOutbox implements Outbox {
  readonly #shards: Shards;
  readonly #news = new News<OutboxEntry[]>();
  #turn = 0;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  async events(cursor: string, count: number, waitMs: number): Promise<OutboxEntry[]> {
    const from = cursorsOf(cursor, this.#shards.count);
    const page = await this.#page(from, count);
    if (page.length > 0 || waitMs < 1) return page;
    await this.#untilNews(from, waitMs);
    return this.#page(from, count);
  }

  /** Positions say how far every shard was read, so that reading goes on behind each. */
  async #page(from: readonly string[], count: number): Promise<OutboxEntry[]> {
    const lists = await this.#shards.each(async ({ outbox }, shard): Promise<Found[]> => {
      const entries = await outbox.events(from[shard] ?? '', count, 0);
      return entries.map((entry) => ({ shard, entry }));
    });
    // Of one shard they stay in their order: sorting is stable, and its times never go back.
    const found = lists.flat().sort((a, b) => a.entry.at - b.entry.at);
    const read = [...from];
    return found.slice(0, count).map(({ shard, entry }) => {
      read[shard] = entry.position;
      return { ...entry, position: positionOf(shard, read) };
    });
  }

  async #untilNews(from: readonly string[], waitMs: number): Promise<void> {
    await this.#news.first(
      this.#shards.all.map(({ outbox }, shard) => {
        const own = from[shard] ?? '';
        return { key: String(shard), from: own, read: () => outbox.events(own, 1, waitMs) };
      }),
    );
  }

  async lastEvent(): Promise<string> {
    const last = await this.#last();
    const newest = last.reduce((best, id, shard) => (compareIds(id, last[best] ?? '') > 0 ? shard : best), 0);
    return last[newest] === '' ? '' : positionOf(newest, last);
  }

  #last(): Promise<string[]> {
    return this.#shards.each(({ outbox }) => outbox.lastEvent());
  }

  async eventsAt(positions: readonly string[]): Promise<OutboxEntry[]> {
    const given = new Map(positions.map((position) => [keyOf(placeOf(position)), position]));
    const lists = await this.#own(positions, async ({ outbox }, ids, shard) => {
      const entries = await outbox.eventsAt(ids);
      return entries.map((entry) => {
        const position = given.get(keyOf({ shard, id: entry.position })) ?? entry.position;
        return { ...entry, position };
      });
    });
    return lists.flat();
  }

  async openReader(reader: string, from: string): Promise<void> {
    const ids = cursorsOf(from, this.#shards.count);
    await this.#shards.each(({ outbox }, shard) => outbox.openReader(reader, ids[shard] ?? ''));
  }

  async claim(
    reader: string,
    consumer: string,
    count: number,
    waitMs: number,
    reclaimMs: number,
  ): Promise<OutboxEntry[]> {
    return (await this.#untilSome(waitMs, () =>
      this.#inTurn(count, ({ outbox }, left) => outbox.claim(reader, consumer, left, 0, reclaimMs)),
    )) as OutboxEntry[];
  }

  /** Consumers lead in each shard by itself; who leads in none gets undefined. */
  claimInOrder(
    reader: string,
    consumer: string,
    count: number,
    waitMs: number,
    leadMs: number,
  ): Promise<OutboxEntry[] | undefined> {
    return this.#untilSome(waitMs, () =>
      this.#inTurn(count, ({ outbox }, left) => outbox.claimInOrder(reader, consumer, left, 0, leadMs)),
    );
  }

  /** Claiming waits in no shard: entries that come to one that nobody waits for any more would be lost to it. */
  async #untilSome(
    waitMs: number,
    claim: () => Promise<OutboxEntry[] | undefined>,
  ): Promise<OutboxEntry[] | undefined> {
    const last = waitMs < 1 ? [] : await this.#last();
    const entries = await claim();
    if (entries === undefined || entries.length > 0 || waitMs < 1) return entries;
    await this.#untilNews(last, waitMs);
    return claim();
  }

  async endLead(reader: string, consumer: string): Promise<void> {
    await this.#shards.each(({ outbox }) => outbox.endLead(reader, consumer));
  }

  async waitingSince(reader: string): Promise<number | undefined> {
    const times = await this.#shards.each(({ outbox }) => outbox.waitingSince(reader));
    const known = times.filter((time) => time !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  async acknowledge(reader: string, positions: readonly string[]): Promise<void> {
    await this.#own(positions, ({ outbox }, ids) => outbox.acknowledge(reader, ids));
  }

  async holdBack(reader: string, positions: readonly string[]): Promise<void> {
    await this.#own(positions, ({ outbox }, ids) => outbox.holdBack(reader, ids));
  }

  async letGo(reader: string, positions: readonly string[]): Promise<void> {
    await this.#own(positions, ({ outbox }, ids) => outbox.letGo(reader, ids));
  }

  async outstanding(reader: string): Promise<number> {
    return sum(await this.#shards.each(({ outbox }) => outbox.outstanding(reader)));
  }

  async closeReader(reader: string): Promise<void> {
    await this.#shards.each(({ outbox }) => outbox.closeReader(reader));
  }

  /** Each shard keeps its share of the count. */
  async trim(now: number, keepMs: number, keepCount: number): Promise<number> {
    const share = Math.ceil(keepCount / this.#shards.count);
    return sum(await this.#shards.each(({ outbox }) => outbox.trim(now, keepMs, share)));
  }

  /** Shard after shard until there are enough, each time from another one on; undefined: none gives any. */
  async #inTurn(
    count: number,
    claim: (store: Shards['home'], left: number) => Promise<OutboxEntry[] | undefined>,
  ): Promise<OutboxEntry[] | undefined> {
    const shards = this.#shards.count;
    const entries: OutboxEntry[] = [];
    let isGiven = false;
    this.#turn += 1;
    for (let n = 0; n < shards && entries.length < count; n += 1) {
      const shard = (this.#turn + n) % shards;
      const own = await claim(this.#shards.at(shard), count - entries.length);
      isGiven ||= own !== undefined;
      for (const entry of own ?? []) entries.push({ ...entry, position: `${shard}/${entry.position}` });
    }
    return isGiven ? entries : undefined;
  }

  /** Asks each shard about its own of these positions. */
  async #own<T>(
    positions: readonly string[],
    ask: (store: Shards['home'], ids: string[], shard: number) => Promise<T>,
  ): Promise<T[]> {
    const groups = new Map<number, string[]>();
    for (const { shard, id } of positions.map(placeOf)) {
      // A shard that the fleet had once has nothing any more.
      if (shard < this.#shards.count) groups.set(shard, [...(groups.get(shard) ?? []), id]);
    }
    return Promise.all([...groups].map(([shard, ids]) => ask(this.#shards.at(shard), ids, shard)));
  }
}

const keyOf = ({ shard, id }: { shard: number; id: string }): string => `${shard}/${id}`;

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
