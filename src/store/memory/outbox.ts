import type { Outbox, OutboxEntry } from '../../ports/store.js';
import type { MemoryState } from './state.js';

const order = (position: string): number => Number.parseInt(position || '0', 10);

interface Reader {
  /** Order of the last entry that was claimed. */
  claimed: number;
  pending: Map<string, { entry: OutboxEntry; consumer: string; since: number }>;
  held: Set<string>;
}

/** The outbox in memory. */
export class MemoryOutbox implements Outbox {
  readonly #state: MemoryState;
  readonly #readers = new Map<string, Reader>();
  readonly #leads = new Map<string, { consumer: string; until: number }>();

  constructor(state: MemoryState) {
    this.#state = state;
  }

  #after(position: number): OutboxEntry[] {
    const first = order(this.#state.outbox[0]?.position ?? '0');
    return this.#state.outbox.slice(Math.max(0, position - first + 1));
  }

  async events(cursor: string, count: number, waitMs: number): Promise<OutboxEntry[]> {
    if (this.#after(order(cursor)).length === 0) await this.#state.changed(waitMs);
    return this.#after(order(cursor)).slice(0, count);
  }

  async lastEvent(): Promise<string> {
    return this.#state.outbox.at(-1)?.position ?? '';
  }

  async eventsAt(positions: readonly string[]): Promise<OutboxEntry[]> {
    const wanted = new Set(positions);
    return this.#state.outbox.filter((entry) => wanted.has(entry.position));
  }

  async openReader(reader: string, from: string): Promise<void> {
    if (this.#readers.has(reader)) return;
    this.#readers.set(reader, { claimed: order(from), pending: new Map(), held: new Set() });
  }

  #reader(name: string): Reader {
    const reader = this.#readers.get(name);
    if (reader === undefined) throw new Error(`no reader ${name}`);
    return reader;
  }

  async claim(
    name: string,
    consumer: string,
    count: number,
    waitMs: number,
    reclaimMs: number,
  ): Promise<OutboxEntry[]> {
    const reader = this.#reader(name);
    const abandoned = [...reader.pending.values()].filter((p) => Date.now() - p.since >= reclaimMs);
    if (abandoned.length > 0) {
      const taken = abandoned.slice(0, count);
      for (const p of taken) Object.assign(p, { consumer, since: Date.now() });
      return taken.map((p) => p.entry);
    }
    if (this.#after(reader.claimed).length === 0) await this.#state.changed(waitMs);
    const entries = this.#after(reader.claimed).slice(0, count);
    for (const entry of entries) {
      reader.pending.set(entry.position, { entry, consumer, since: Date.now() });
      reader.claimed = order(entry.position);
    }
    return entries;
  }

  async claimInOrder(
    name: string,
    consumer: string,
    count: number,
    waitMs: number,
    leadMs: number,
  ): Promise<OutboxEntry[] | undefined> {
    const lead = this.#leads.get(name);
    if (lead !== undefined && lead.consumer !== consumer && lead.until > Date.now()) return undefined;
    this.#leads.set(name, { consumer, until: Date.now() + leadMs });
    return this.claim(name, consumer, count, waitMs, 0);
  }

  async endLead(name: string, consumer: string): Promise<void> {
    if (this.#leads.get(name)?.consumer === consumer) this.#leads.delete(name);
  }

  async waitingSince(name: string): Promise<number | undefined> {
    const reader = this.#readers.get(name);
    return reader === undefined ? undefined : this.#after(reader.claimed)[0]?.at;
  }

  async acknowledge(name: string, positions: readonly string[]): Promise<void> {
    for (const position of positions) this.#reader(name).pending.delete(position);
  }

  async holdBack(name: string, positions: readonly string[]): Promise<void> {
    for (const position of positions) this.#reader(name).held.add(position);
  }

  async letGo(name: string, positions: readonly string[]): Promise<void> {
    for (const position of positions) this.#reader(name).held.delete(position);
  }

  async outstanding(name: string): Promise<number> {
    const reader = this.#readers.get(name);
    if (reader === undefined) return 0;
    return reader.pending.size + reader.held.size + this.#after(reader.claimed).length;
  }

  async closeReader(name: string): Promise<void> {
    this.#readers.delete(name);
    this.#leads.delete(name);
  }

  async trim(now: number, keepMs: number, keepCount: number): Promise<number> {
    const { outbox } = this.#state;
    let needed = Number.POSITIVE_INFINITY;
    for (const { claimed, pending, held } of this.#readers.values()) {
      needed = Math.min(needed, claimed + 1);
      for (const position of pending.keys()) needed = Math.min(needed, order(position));
      for (const position of held) needed = Math.min(needed, order(position));
    }
    let drop = 0;
    for (const { position, at } of outbox) {
      if (order(position) >= needed || (outbox.length - drop <= keepCount && at >= now - keepMs)) break;
      drop += 1;
    }
    if (drop > 0) this.#state.outbox = outbox.slice(drop);
    return drop;
  }
}
