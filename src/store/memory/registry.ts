import { setTimeout as delay } from 'node:timers/promises';
import type { Registry, RegistryChange, RegistryDocument } from '../../core/registry/model.js';
import type { RegistryStore } from '../../ports/registry.js';

/** How soon to look again whether a held registry is free. */
const HELD_WAIT_MS = 20;

/** A copy that no caller holds, as a store that writes it down would keep it. */
const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : Number(a.id > b.id));

/** The registry in memory: a value that every change replaces. */
export class MemoryRegistry implements RegistryStore {
  #registry: Registry = { revision: 0, entries: new Map(), attachments: [] };
  readonly #holds = new Map<string, number>();
  #held = 0;
  readonly #versions = new Map<string, RegistryDocument>();

  async read(): Promise<Registry> {
    return this.#registry;
  }

  async change(expected: number, change: RegistryChange): Promise<Registry | undefined> {
    while ([...this.#holds.values()].some((until) => until > Date.now())) await delay(HELD_WAIT_MS);
    const { revision, entries, attachments } = this.#registry;
    if (revision !== expected) return undefined;
    const { put, remove, attach, detach } = copyOf(change);
    const names = new Map(entries);
    for (const name of remove) names.delete(name);
    for (const entry of put) {
      names.set(entry.document.name, entry);
      this.#versions.set(entry.version, entry.document);
    }
    const gone = new Set([...detach, ...attach.map(({ id }) => id)]);
    this.#registry = {
      revision: revision + 1,
      entries: new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1))),
      attachments: [...attachments.filter(({ id }) => !gone.has(id)), ...attach].sort(byId),
    };
    return this.#registry;
  }

  async hold(expected: number, forMs: number): Promise<{ id: string; until: number } | undefined> {
    if (this.#registry.revision !== expected) return undefined;
    this.#held += 1;
    const hold = { id: String(this.#held), until: Date.now() + forMs };
    this.#holds.set(hold.id, hold.until);
    return hold;
  }

  async release(hold: string): Promise<void> {
    this.#holds.delete(hold);
  }

  async version(digest: string): Promise<RegistryDocument | undefined> {
    return this.#versions.get(digest);
  }
}
