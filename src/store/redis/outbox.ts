import type { Outbox, OutboxEntry } from '../../ports/store.js';
import type { RedisContext } from './context.js';

type Entry = [id: string, fields: string[] | null];
type StreamReply = [key: string, entries: Entry[]][] | null;

const START = '0-0';

/** Entries looked at in one step of a trim. */
const TRIM_STEP = 1000;

/** Milliseconds of a stream id: enough to find the oldest of those held back. */
const order = (position: string): number => Number(position.split('-')[0]);

/** Negative, zero or positive, as for sorting, for two stream ids. */
function comparePositions(a: string, b: string): number {
  const [aTime = '0', aSeq = '0'] = a.split('-');
  const [bTime = '0', bSeq = '0'] = b.split('-');
  return Number(aTime) - Number(bTime) || Number(aSeq) - Number(bSeq);
}

/** The position right behind another. */
function following(position: string): string {
  const [time, seq] = position.split('-');
  return `${time}-${BigInt(seq ?? 0) + 1n}`;
}

function entriesOf(found: readonly Entry[]): OutboxEntry[] {
  const entries: OutboxEntry[] = [];
  for (const [position, fields] of found) {
    const json = fields?.[1];
    if (json === undefined) continue;
    const { id, type } = JSON.parse(json) as { id: string; type: string };
    entries.push({ position, event: { id, type, json }, at: order(position) });
  }
  return entries;
}

/** The outbox as a Redis stream; each reader is a consumer group (DESIGN 5.5). */
export class RedisOutbox implements Outbox {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  get #stream(): string {
    return `${this.#context.prefix}outbox`;
  }

  #held(reader: string): string {
    return `${this.#context.prefix}held:${reader}`;
  }

  #lead(reader: string): string {
    return `${this.#context.prefix}lead:${reader}`;
  }

  async events(cursor: string, count: number, waitMs: number): Promise<OutboxEntry[]> {
    const from = cursor === '' ? START : cursor;
    const reply = (
      waitMs > 0
        ? await this.#context
            .waiting('tail')
            .xread('COUNT', count, 'BLOCK', waitMs, 'STREAMS', this.#stream, from)
        : await this.#context.client.xread('COUNT', count, 'STREAMS', this.#stream, from)
    ) as StreamReply;
    return entriesOf(reply?.[0]?.[1] ?? []);
  }

  async lastEvent(): Promise<string> {
    const [last] = await this.#context.client.xrevrange(this.#stream, '+', '-', 'COUNT', 1);
    return last?.[0] ?? '';
  }

  async eventsAt(positions: readonly string[]): Promise<OutboxEntry[]> {
    const sorted = [...positions].sort(comparePositions);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined) return [];
    const wanted = new Set(positions);
    const found = (await this.#context.client.xrange(this.#stream, first, last)) as Entry[];
    return entriesOf(found.filter(([position]) => wanted.has(position)));
  }

  async openReader(reader: string, from: string): Promise<void> {
    try {
      await this.#context.client.xgroup('CREATE', this.#stream, reader, from === '' ? '0' : from, 'MKSTREAM');
    } catch (error) {
      if (!(error as Error).message.startsWith('BUSYGROUP')) throw error;
    }
  }

  async claim(
    reader: string,
    consumer: string,
    count: number,
    waitMs: number,
    reclaimMs: number,
  ): Promise<OutboxEntry[]> {
    try {
      return await this.#claim(reader, consumer, count, waitMs, reclaimMs);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOGROUP')) throw error;
      // Redis lost the stream: the reader starts over with what comes.
      await this.openReader(reader, '');
      return [];
    }
  }

  async #claim(
    reader: string,
    consumer: string,
    count: number,
    waitMs: number,
    reclaimMs: number,
  ): Promise<OutboxEntry[]> {
    const { client, whileWaiting } = this.#context;
    const [, reclaimed] = (await client.xautoclaim(
      this.#stream,
      reader,
      consumer,
      reclaimMs,
      START,
      'COUNT',
      count,
    )) as [string, Entry[]];
    if (reclaimed.length > 0) return entriesOf(reclaimed);
    const block = Math.max(1, waitMs);
    const reply = (await whileWaiting((own) =>
      own.xreadgroup('GROUP', reader, consumer, 'COUNT', count, 'BLOCK', block, 'STREAMS', this.#stream, '>'),
    )) as StreamReply;
    return entriesOf(reply?.[0]?.[1] ?? []);
  }

  async claimInOrder(
    reader: string,
    consumer: string,
    count: number,
    waitMs: number,
    leadMs: number,
  ): Promise<OutboxEntry[] | undefined> {
    const take = async () =>
      (await this.#context.scripts['claim-in-order'](
        this.#context.prefix,
        reader,
        consumer,
        count,
        leadMs,
      )) as [leads: number, entries: Entry[], last: string];
    try {
      const [leads, entries, last] = await take();
      if (leads === 0) return undefined;
      if (entries.length > 0 || waitMs < 1) return entriesOf(entries);
      // A script cannot wait: this does, for an entry behind the last one that there was.
      await this.#context.whileWaiting((own) =>
        own.xread('COUNT', 1, 'BLOCK', waitMs, 'STREAMS', this.#stream, last),
      );
      const again = await take();
      return again[0] === 0 ? undefined : entriesOf(again[1]);
    } catch (error) {
      if (!(error as Error).message.includes('NOGROUP')) throw error;
      await this.openReader(reader, '');
      return [];
    }
  }

  async endLead(reader: string, consumer: string): Promise<void> {
    await this.#context.scripts['end-lead'](this.#context.prefix, reader, consumer);
  }

  async waitingSince(reader: string): Promise<number | undefined> {
    const group = (await this.#groups()).find(({ name }) => name === reader);
    if (group === undefined) return undefined;
    const from = `(${group.lastDelivered}`;
    const [next] = await this.#context.client.xrange(this.#stream, from, '+', 'COUNT', 1);
    return next === undefined ? undefined : order(next[0]);
  }

  async acknowledge(reader: string, positions: readonly string[]): Promise<void> {
    if (positions.length > 0) await this.#context.client.xack(this.#stream, reader, ...positions);
  }

  async holdBack(reader: string, positions: readonly string[]): Promise<void> {
    const members = positions.flatMap((position) => [order(position), position]);
    if (members.length > 0) await this.#context.client.zadd(this.#held(reader), ...members);
  }

  async letGo(reader: string, positions: readonly string[]): Promise<void> {
    if (positions.length > 0) await this.#context.client.zrem(this.#held(reader), ...positions);
  }

  async outstanding(reader: string): Promise<number> {
    const { client } = this.#context;
    // In this order: an entry is held back before it is acknowledged, so none slips through.
    const groups = await this.#groups();
    const held = await client.zcard(this.#held(reader));
    const group = groups.find(({ name }) => name === reader);
    if (group === undefined) return held;
    if (group.lag !== undefined) return group.pending + held + group.lag;
    // Before version 7, Redis does not say how many: what counts is whether there are any.
    const waiting = (await client.xrange(this.#stream, `(${group.lastDelivered}`, '+', 'COUNT', 1)).length;
    return group.pending + held + waiting;
  }

  async closeReader(reader: string): Promise<void> {
    const { client } = this.#context;
    if ((await client.exists(this.#stream)) === 1) await client.xgroup('DESTROY', this.#stream, reader);
    await client.del(this.#held(reader), this.#lead(reader));
  }

  async #groups(): Promise<
    { name: string; pending: number; lastDelivered: string; lag: number | undefined }[]
  > {
    const { client } = this.#context;
    if ((await client.exists(this.#stream)) === 0) return [];
    const reply = (await client.xinfo('GROUPS', this.#stream)) as (string | number)[][];
    return reply.map((fields) => {
      const map = new Map<unknown, unknown>();
      for (let i = 0; i + 1 < fields.length; i += 2) map.set(fields[i], fields[i + 1]);
      const lag = map.get('lag');
      return {
        name: String(map.get('name')),
        lag: typeof lag === 'number' ? lag : undefined,
        pending: Number(map.get('pending')),
        lastDelivered: String(map.get('last-delivered-id')),
      };
    });
  }

  /** The first position that some reader still needs; undefined when there is no reader. */
  async #needed(): Promise<string | undefined> {
    const { client } = this.#context;
    const needed: string[] = [];
    for (const group of await this.#groups()) {
      needed.push(group.lastDelivered);
      if (group.pending > 0) {
        const [, first] = (await client.xpending(this.#stream, group.name)) as [number, string | null];
        if (first !== null) needed.push(first);
      }
      const [held] = await client.zrange(this.#held(group.name), '0', '0');
      // Those of one millisecond are not in order among themselves.
      if (held !== undefined) needed.push(`${order(held)}-0`);
    }
    return needed.sort(comparePositions)[0];
  }

  async trim(now: number, keepMs: number, keepCount: number): Promise<number> {
    const { client, scripts, prefix } = this.#context;
    const needed = await this.#needed();
    const behind = (limit: string) =>
      needed !== undefined && comparePositions(needed, limit) < 0 ? needed : limit;
    let trimmed = await client.xtrim(this.#stream, 'MINID', behind(`${Math.max(0, now - keepMs)}-0`));
    // Step by step, from the old end: the new end may be hundreds of thousands of entries away.
    let excess = (await client.xlen(this.#stream)) - keepCount;
    while (excess > 0) {
      const last = (await scripts['nth-event'](prefix, Math.min(excess, TRIM_STEP))) as string | null;
      if (last === null) break;
      const dropped = await client.xtrim(this.#stream, 'MINID', behind(following(last)));
      if (dropped === 0) break;
      trimmed += dropped;
      excess -= dropped;
    }
    return trimmed;
  }
}
