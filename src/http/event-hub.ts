import { setTimeout as delay } from 'node:timers/promises';
import { Lanes } from '../core/lanes.js';
import { behind, covers, hasRead } from '../core/positions.js';
import type { Outbox, OutboxEntry } from '../ports/store.js';

/** Entries that are kept for the streams which follow, and UTF-16 units of their JSON. */
const MOST_KEPT = 2000;
const MOST_UNITS = 8 * 2 ** 20;
const PAGE = 500;
/** Pages at a time for streams that are behind: other requests share the connection, and wait for them. */
const BEHIND_AT_A_TIME = 2;
const WAIT_MS = 1000;
const LONGEST_RETRY_MS = 5000;
/** How soon to look again while the common reader is not there yet. */
const BEGIN_MS = 50;

/** What comes of it; undefined when the signal is aborted first. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    work.catch(() => {});
    return undefined;
  }
  let stop = () => {};
  const aborted = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => {});
  }
}

/**
 * The new end of the outbox, read once for all streams of a server: reading it with a wait takes a
 * connection of its own. A stream takes what it needs when it can send it, so a slow one holds nothing
 * here: once it is too far behind, it reads pages of its own.
 */
export class EventHub {
  readonly #outbox: Outbox;
  readonly #onError: (error: Error) => void;
  #kept: OutboxEntry[] = [];
  #units = 0;
  /** All behind this position, up to the newest, is in `#kept`; undefined while nobody follows. */
  #base: string | undefined;
  #followers = 0;
  #reading: Promise<void> | undefined;
  readonly #behind = new Lanes(BEHIND_AT_A_TIME);
  #wakers = new Set<() => void>();

  constructor(outbox: Outbox, onError: (error: Error) => void) {
    this.#outbox = outbox;
    this.#onError = onError;
  }

  /** Streams that follow now. */
  get followers(): number {
    return this.#followers;
  }

  /** Begins to follow; what it returns ends that. */
  follow(): () => void {
    this.#followers += 1;
    this.#start();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#followers -= 1;
    };
  }

  #start(): void {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
      // One may have come while the last round ended.
      if (this.#followers > 0) this.#start();
    });
  }

  /** What comes after a position: some of it, or nothing when `waitMs` are over or the signal is aborted. */
  async after(cursor: string, waitMs: number, signal: AbortSignal): Promise<OutboxEntry[]> {
    const base = this.#base;
    const isBehind = base === undefined || !covers(cursor, base);
    if (isBehind) {
      const read = async () => (signal.aborted ? [] : this.#outbox.events(cursor, PAGE, 0));
      const page = await untilAborted(this.#behind.run(read), signal);
      if (page === undefined || page.length > 0) return page ?? [];
    }
    // Nothing is left before `base`, so what is kept goes on from the cursor.
    const from = isBehind && base !== undefined ? base : cursor;
    const known = this.#after(from);
    if (known !== undefined && known.length > 0) return known;
    await this.#news(known === undefined ? Math.min(waitMs, BEGIN_MS) : waitMs, signal);
    return this.#after(from) ?? [];
  }

  /** From what is kept; undefined when the position lies before that. */
  #after(cursor: string): OutboxEntry[] | undefined {
    if (this.#base === undefined || !covers(cursor, this.#base)) return undefined;
    let first = this.#kept.length;
    while (first > 0 && !covers(cursor, (this.#kept[first - 1] as OutboxEntry).position)) first -= 1;
    // Of several shards, who comes from another server may have read some of these in another order.
    const later = this.#kept.slice(first).filter(({ position }) => !hasRead(cursor, position));
    let read = cursor;
    return later.slice(0, PAGE).map((entry) => {
      read = behind(read, entry.position);
      return read === entry.position ? entry : { ...entry, position: read };
    });
  }

  #news(waitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wakers.delete(done);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      signal.addEventListener('abort', done, { once: true });
      this.#wakers.add(done);
    });
  }

  async #read(): Promise<void> {
    let retryMs = 100;
    let cursor: string | undefined;
    while (this.#followers > 0) {
      try {
        cursor ??= await this.#begin();
        const page = await this.#outbox.events(cursor, PAGE, WAIT_MS);
        retryMs = 100;
        cursor = page.at(-1)?.position ?? cursor;
        if (page.length > 0) this.#keep(page);
      } catch (error) {
        if (this.#followers === 0) break;
        this.#onError(error as Error);
        await delay(retryMs, undefined, { ref: false });
        retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
      }
    }
    this.#base = undefined;
    this.#kept = [];
    this.#units = 0;
  }

  async #begin(): Promise<string> {
    const last = await this.#outbox.lastEvent();
    this.#base = last;
    return last;
  }

  #keep(page: readonly OutboxEntry[]): void {
    this.#kept.push(...page);
    for (const { event } of page) this.#units += event.json.length;
    let dropped = 0;
    while (
      this.#kept.length - dropped > 1 &&
      (this.#kept.length - dropped > MOST_KEPT || this.#units > MOST_UNITS)
    ) {
      const entry = this.#kept[dropped] as OutboxEntry;
      this.#units -= entry.event.json.length;
      this.#base = entry.position;
      dropped += 1;
    }
    if (dropped > 0) this.#kept = this.#kept.slice(dropped);
    for (const wake of [...this.#wakers]) wake();
  }
}
