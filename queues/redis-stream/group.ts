import type { Redis } from 'ioredis';

/** An entry of a stream. */
export interface Entry {
  id: string;
  /** Names and values, one after the other. */
  fields: Buffer[];
}

type RawEntry = [id: Buffer, fields: Buffer[] | null];

/** So long ago that whoever looks takes it over. */
const LONG_IDLE_MS = 1_000_000_000;
const IDS_AT_A_TIME = 500;

/** Removes a consumer that holds nothing: with it would go what it holds. */
const LEAVE = `
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) == 0 then
  return redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
return -1`;

function entriesOf(raw: unknown): { entries: Entry[]; gone: string[] } {
  const found = (raw ?? []) as (RawEntry | null)[];
  const entries: Entry[] = [];
  const gone: string[] = [];
  for (const entry of found) {
    if (entry === null) continue;
    const [id, fields] = entry;
    if (fields === null) gone.push(id.toString());
    else entries.push({ id: id.toString(), fields });
  }
  return { entries, gone };
}

/** One consumer in a consumer group of a stream. */
export class GroupConsumer {
  readonly #client: Redis;
  /** Blocks while it waits for entries. */
  readonly #reader: Redis;
  readonly #key: string;
  readonly #group: string;
  readonly #name: string;

  constructor(
    clients: { client: Redis; reader: Redis },
    place: { key: string; group: string; name: string },
  ) {
    this.#client = clients.client;
    this.#reader = clients.reader;
    this.#key = place.key;
    this.#group = place.group;
    this.#name = place.name;
  }

  /** Makes stream and group where they are missing; a new group begins with the oldest entry. */
  async makeGroup(): Promise<void> {
    try {
      await this.#client.xgroup('CREATE', this.#key, this.#group, '0', 'MKSTREAM');
    } catch (error) {
      if (!(error as Error).message.startsWith('BUSYGROUP')) throw error;
    }
  }

  /** New entries, waiting up to `waitMs` for the first. */
  async read(count: number, waitMs: number): Promise<Entry[]> {
    const args = [
      'GROUP',
      this.#group,
      this.#name,
      'COUNT',
      count,
      'BLOCK',
      waitMs,
      'STREAMS',
      this.#key,
      '>',
    ];
    const answer = (await this.#reader.callBuffer('XREADGROUP', args)) as unknown as
      | [Buffer, unknown][]
      | null;
    return entriesOf(answer?.[0]?.[1]).entries;
  }

  /** What this consumer was given behind `after` and has not acknowledged, from its oldest. */
  async given(after: string, count: number): Promise<Entry[]> {
    const args = ['GROUP', this.#group, this.#name, 'COUNT', count, 'STREAMS', this.#key, after];
    const answer = (await this.#client.callBuffer('XREADGROUP', args)) as [Buffer, unknown][] | null;
    const { entries, gone } = entriesOf(answer?.[0]?.[1]);
    if (gone.length > 0) await this.acknowledge(gone, false);
    return entries;
  }

  /** Takes over what nobody has spoken for since `idleMs`; `cursor` is where to look on, 0-0 at the end. */
  async takeOver(
    idleMs: number,
    cursor: string,
    count: number,
  ): Promise<{ entries: Entry[]; cursor: string }> {
    const args = [this.#key, this.#group, this.#name, idleMs, cursor, 'COUNT', count];
    const [next, raw] = (await this.#client.callBuffer('XAUTOCLAIM', args)) as unknown as [Buffer, unknown];
    const { entries, gone } = entriesOf(raw);
    if (gone.length > 0) await this.acknowledge(gone, false);
    return { entries, cursor: next.toString() };
  }

  /** The entries with these ids, as long as they wait for their acknowledgement. */
  async again(ids: readonly string[]): Promise<Entry[]> {
    const args = [this.#key, this.#group, this.#name, 0, ...ids];
    const { entries, gone } = entriesOf(await this.#client.callBuffer('XCLAIM', args));
    if (gone.length > 0) await this.acknowledge(gone, false);
    return entries;
  }

  /** Says that these are in good hands. */
  async keep(ids: readonly string[]): Promise<void> {
    await this.#claim(ids, 0);
  }

  /** Lets whoever comes next take these. */
  async letGo(ids: readonly string[]): Promise<void> {
    await this.#claim(ids, LONG_IDLE_MS);
    await this.#client.eval(LEAVE, 1, this.#key, this.#group, this.#name);
  }

  /** With `trim` they leave the stream as well. */
  async acknowledge(ids: readonly string[], trim: boolean): Promise<void> {
    await this.#client.xack(this.#key, this.#group, ...ids);
    if (trim) await this.#client.xdel(this.#key, ...ids);
  }

  async #claim(ids: readonly string[], idleMs: number): Promise<void> {
    for (let at = 0; at < ids.length; at += IDS_AT_A_TIME) {
      const some = ids.slice(at, at + IDS_AT_A_TIME);
      const args = [this.#key, this.#group, this.#name, 0, ...some, 'IDLE', idleMs, 'JUSTID'];
      await this.#client.call('XCLAIM', args);
    }
  }
}
