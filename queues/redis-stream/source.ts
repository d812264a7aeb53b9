import type { Redis } from 'ioredis';
import { redact } from '../../src/core/redact.js';
import type { IncomingMessage, Source, Take } from '../../src/ports/source.js';
import type { Entry, GroupConsumer } from './group.js';

/** Longest wait for a new entry: how late what was put off may be. */
const BLOCK_MS = 1_000;
const PAUSE_MS = 1_000;
const LET_GO_MS = 1_000;
const GIVEN_AT_A_TIME = 500;
/** Most entries that are put off; those beyond come again as if their process had died. */
const MOST_PUT_OFF = 10_000;

export interface StreamSourceSettings {
  key: string;
  /** Name of the field that holds the CloudEvent. */
  field: string;
  /** Remove entries that are done. */
  trim: boolean;
  /** Milliseconds after which an entry that nobody speaks for is taken over. */
  claimAfterMs: number;
  /** Most entries in hand. */
  concurrency: number;
  onError(error: Error): void;
}

/** The message in an entry; one without the field carries all of its fields, so that people see what came. */
export function messageOf(entry: Entry, { key, field }: { key: string; field: string }): IncomingMessage {
  const place = `stream ${key}, entry ${entry.id}`;
  const fields = new Map<string, Buffer>();
  for (let n = 0; n + 1 < entry.fields.length; n += 2)
    fields.set(String(entry.fields[n]), entry.fields[n + 1] as Buffer);
  const body = fields.get(field);
  // As plain JSON it may be a batch as well.
  if (body !== undefined) return { body, contentType: 'application/json', attributes: {}, place };
  const all = JSON.stringify(Object.fromEntries([...fields].map(([name, value]) => [name, String(value)])));
  return { body: Buffer.from(all), contentType: 'application/json', attributes: {}, place };
}

/** Takes entries by a consumer group, those of consumers that died too. */
export class RedisStreamSource implements Source {
  readonly #consumer: GroupConsumer;
  readonly #clients: { client: Redis; reader: Redis };
  readonly #settings: StreamSourceSettings;
  readonly #take: Take;
  readonly #held = new Set<string>();
  /** When they are to be taken again, by id. */
  readonly #putOff = new Map<string, number>();
  #nextLook = 0;
  #cursor = '0-0';
  #isClosing = false;
  /** Entries whose answer broke off with the connection are looked for behind this one. */
  #given: string | undefined;
  #told = '';
  #wake = () => {};
  readonly #speaking: NodeJS.Timeout;

  constructor(
    consumer: GroupConsumer,
    clients: { client: Redis; reader: Redis },
    settings: StreamSourceSettings,
    take: Take,
  ) {
    this.#consumer = consumer;
    this.#clients = clients;
    this.#settings = settings;
    this.#take = take;
    this.#speaking = setInterval(() => this.#speak(), settings.claimAfterMs / 3);
    for (const client of Object.values(clients)) client.on('close', () => this.#lookForGiven());
    void this.#run();
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true;
    this.#wake();
    this.#clients.reader.disconnect();
    const end = Date.now() + deadlineMs;
    while (this.#held.size > 0 && Date.now() < end) await this.#rest(end - Date.now());
    clearInterval(this.#speaking);
    const left = [...this.#held, ...this.#putOff.keys()];
    const letGo = this.#consumer.letGo(left).catch(() => {});
    await Promise.race([letGo, this.#rest(LET_GO_MS)]);
    this.#wake();
    this.#clients.client.disconnect();
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      try {
        await this.#consumer.makeGroup();
        this.#told = '';
        while (!this.#isClosing) await this.#step();
      } catch (error) {
        if (this.#isClosing) return;
        // The stream was removed, or Redis has lost it: the group is made anew.
        if ((error as Error).message.startsWith('NOGROUP')) continue;
        this.#tell(error as Error);
        await this.#rest(PAUSE_MS);
      }
    }
  }

  /** What was put off and is due, else what the dead held, else what is new. */
  async #step(): Promise<void> {
    const free = this.#settings.concurrency - this.#held.size;
    if (free <= 0) return this.#rest();
    const now = Date.now();
    const due = [...this.#putOff].filter(([, time]) => time <= now).slice(0, free);
    if (due.length > 0) return this.#takeAgain(due.map(([id]) => id));
    if (this.#given !== undefined) return this.#takeGiven(this.#given, free);
    if (now >= this.#nextLook) return this.#takeOver(free);
    const next = Math.min(this.#nextLook, ...this.#putOff.values());
    const wait = Math.max(1, Math.min(BLOCK_MS, next - now));
    for (const entry of await this.#consumer.read(free, wait)) this.#handle(entry);
  }

  async #takeAgain(ids: readonly string[]): Promise<void> {
    const entries = await this.#consumer.again(ids);
    for (const id of ids) this.#putOff.delete(id);
    for (const entry of entries) this.#handle(entry);
  }

  #lookForGiven(): void {
    this.#given = '0';
  }

  /** Redis may have given entries whose answer was lost: they are ours, and nobody else takes them soon. */
  async #takeGiven(after: string, free: number): Promise<void> {
    this.#given = undefined;
    const given = await this.#consumer.given(after, GIVEN_AT_A_TIME);
    const unknown = given.filter(({ id }) => !this.#held.has(id) && !this.#putOff.has(id)).slice(0, free);
    for (const entry of unknown) this.#handle(entry);
    const last = unknown.length < free ? given.at(-1)?.id : unknown.at(-1)?.id;
    if (last !== undefined) this.#given ??= last;
  }

  async #takeOver(free: number): Promise<void> {
    const { claimAfterMs } = this.#settings;
    const { entries, cursor } = await this.#consumer.takeOver(claimAfterMs, this.#cursor, free);
    this.#cursor = cursor;
    if (cursor === '0-0') this.#nextLook = Date.now() + claimAfterMs / 2;
    for (const entry of entries) {
      if (!this.#held.has(entry.id) && !this.#putOff.has(entry.id)) this.#handle(entry);
    }
  }

  #handle(entry: Entry): void {
    this.#held.add(entry.id);
    void this.#settle(entry)
      .catch((error: Error) => this.#tell(error))
      .finally(() => {
        this.#held.delete(entry.id);
        this.#wake();
      });
  }

  async #settle(entry: Entry): Promise<void> {
    const taken = await this.#take(messageOf(entry, this.#settings));
    if (taken.kind === 'done') return this.#consumer.acknowledge([entry.id], this.#settings.trim);
    if (this.#putOff.size < MOST_PUT_OFF) this.#putOff.set(entry.id, Date.now() + taken.afterMs);
  }

  #speak(): void {
    const ids = [...this.#held, ...this.#putOff.keys()];
    if (ids.length > 0) this.#consumer.keep(ids).catch(() => {});
  }

  #tell(error: Error): void {
    if (this.#isClosing) return;
    const reason = redact(error.message);
    if (reason === this.#told) return;
    this.#told = reason;
    this.#settings.onError(new Error(reason));
  }

  /** Until something is done, or this time is over. */
  #rest(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
