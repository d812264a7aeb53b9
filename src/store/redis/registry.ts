import { setTimeout as delay } from 'node:timers/promises';
import { ulid } from 'ulid';
import type {
  Attachment,
  Registry,
  RegistryChange,
  RegistryDocument,
  RegistryEntry,
} from '../../core/registry/model.js';
import type { RegistryStore } from '../../ports/registry.js';
import type { RedisContext } from './context.js';

/** What the script answers when the registry is held, and how soon to ask again. */
const HELD = 2;
const HELD_WAIT_MS = 20;

type Stamp = [revision: string | null, mark: string | null];

function registryOf([revision]: Stamp, entries: string[], attachments: string[]): Registry {
  const read = entries.map((json) => JSON.parse(json) as RegistryEntry);
  const named = read.map((entry) => [entry.document.name, entry] as const);
  return {
    revision: Number(revision ?? 0),
    entries: new Map(named.sort(([a], [b]) => (a < b ? -1 : 1))),
    attachments: attachments
      .map((json) => JSON.parse(json) as Attachment)
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

/** The registry in Redis: two hashes and their revision; read again only when that has changed. */
export class RedisRegistry implements RegistryStore {
  readonly #context: RedisContext;
  #known: { stamp: string; registry: Registry } | undefined;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  #key(name: string): string {
    return `${this.#context.prefix}${name}`;
  }

  async read(): Promise<Registry> {
    const { client, scripts, prefix } = this.#context;
    const stamp = await client.hmget(this.#key('registry'), 'rev', 'mark');
    if (this.#known?.stamp === String(stamp)) return this.#known.registry;
    const read = await scripts['read-registry'](prefix);
    const [now, entries, attachments] = read as [Stamp, string[], string[]];
    // The mark tells a registry apart that was lost with its Redis and has come to the same revision.
    if (this.#known?.stamp !== String(now)) {
      this.#known = { stamp: String(now), registry: registryOf(now, entries, attachments) };
    }
    return this.#known.registry;
  }

  /** What is returned may hold later changes already. */
  async change(expected: number, change: RegistryChange): Promise<Registry | undefined> {
    const { scripts, prefix } = this.#context;
    const { put, remove, attach, detach } = change;
    const changing = () =>
      scripts['change-registry'](
        prefix,
        expected,
        ulid(),
        put.length,
        remove.length,
        attach.length,
        detach.length,
        ...put.flatMap((entry) => [
          entry.document.name,
          entry.version,
          JSON.stringify(entry),
          JSON.stringify(entry.document),
        ]),
        ...remove,
        ...attach.flatMap((attachment) => [attachment.id, JSON.stringify(attachment)]),
        ...detach,
      );
    let changed = await changing();
    while (changed === HELD) {
      await delay(HELD_WAIT_MS);
      changed = await changing();
    }
    return changed === 1 ? this.read() : undefined;
  }

  async hold(expected: number, forMs: number): Promise<{ id: string; until: number } | undefined> {
    const { scripts, prefix } = this.#context;
    const id = ulid();
    const until = Number(await scripts['hold-registry'](prefix, expected, id, forMs));
    return until === 0 ? undefined : { id, until };
  }

  async release(hold: string): Promise<void> {
    await this.#context.client.zrem(this.#key('registry:holds'), hold);
  }

  async version(digest: string): Promise<RegistryDocument | undefined> {
    const json = await this.#context.client.get(this.#key(`version:${digest}`));
    return json === null ? undefined : (JSON.parse(json) as RegistryDocument);
  }
}
