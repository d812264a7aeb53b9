import { createReadStream } from 'node:fs';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FLUSH_AT = 16 * 1024;

interface Group {
  path: string;
  pending: string[];
  size: number;
  onDisk: boolean;
}

/**
 * Collects texts by group in temporary files, for formats that want together what comes mixed.
 * Memory is bounded by the number of groups, not by the number of texts.
 */
export class GroupedSpool {
  #folder: string | undefined;
  readonly #groups = new Map<string, Group>();

  async add(name: string, text: string): Promise<void> {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { path: String(this.#groups.size), pending: [], size: 0, onDisk: false };
      this.#groups.set(name, group);
    }
    group.pending.push(text);
    group.size += text.length;
    if (group.size >= FLUSH_AT) await this.#toDisk(group);
  }

  async #toDisk(group: Group): Promise<void> {
    this.#folder ??= await mkdtemp(join(tmpdir(), 'sluice-report-'));
    await appendFile(join(this.#folder, group.path), group.pending.join(''), { mode: 0o600 });
    group.pending = [];
    group.size = 0;
    group.onDisk = true;
  }

  /** Everything of one group, in the order in which it came. */
  async *read(name: string): AsyncGenerator<string> {
    const group = this.#groups.get(name);
    if (group === undefined) return;
    if (group.onDisk && this.#folder !== undefined) {
      yield* createReadStream(join(this.#folder, group.path), { encoding: 'utf8' });
    }
    yield group.pending.join('');
  }

  async remove(): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}
