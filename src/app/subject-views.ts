import { LRUCache } from 'lru-cache';
import { isPlainObject } from '../core/json.js';
import type { Subject } from '../core/subject.js';
import { SubjectView } from '../core/subject-view.js';
import type { EvaluationStore } from '../ports/store.js';
import { guarded } from './guarded.js';

/** Bytes of subjects that a worker keeps parsed. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** Subjects by digest as validators see them, read from the store once and kept. */
export class SubjectViews {
  readonly #store: Pick<EvaluationStore, 'blobs'>;
  readonly #kept = new LRUCache<string, SubjectView>({ maxSize: KEPT_BYTES, maxEntrySize: KEPT_BYTES });
  /** Reads under way: packs of one run that begin side by side share one. */
  readonly #coming = new Map<string, Promise<Map<string, SubjectView>>>();

  constructor(store: Pick<EvaluationStore, 'blobs'>) {
    this.#store = store;
  }

  /**
   * By digest; those that are no longer stored, or no JSON, are absent. `keep`: other packs will ask for them.
   * What nobody asks for again is better let go: keeping it makes the garbage collector move it.
   */
  async get(wanted: Iterable<string>, keep: boolean): Promise<Map<string, SubjectView>> {
    const views = new Map<string, SubjectView>();
    const missing = new Set<string>();
    for (const digest of wanted) {
      const kept = this.#kept.get(digest);
      if (kept === undefined) missing.add(digest);
      else views.set(digest, kept);
    }
    if (missing.size === 0) return views;
    this.#ask(
      [...missing].filter((digest) => !this.#coming.has(digest)),
      keep,
    );
    const coming = new Set([...missing].map((digest) => this.#coming.get(digest)));
    for (const found of await Promise.all(coming)) {
      for (const digest of missing) {
        const view = found?.get(digest);
        if (view !== undefined) views.set(digest, view);
      }
    }
    return views;
  }

  #ask(digests: readonly string[], keep: boolean): void {
    if (digests.length === 0) return;
    const coming = this.#read(digests, keep).finally(() => {
      for (const digest of digests) this.#coming.delete(digest);
    });
    for (const digest of digests) this.#coming.set(digest, coming);
  }

  async #read(digests: readonly string[], keep: boolean): Promise<Map<string, SubjectView>> {
    const views = new Map<string, SubjectView>();
    const contents = await this.#store.blobs(digests);
    digests.forEach((digest, i) => {
      const json = contents[i];
      const subject = json === undefined ? undefined : guarded(() => JSON.parse(json) as Subject).value;
      if (json === undefined || !isPlainObject(subject)) return;
      const view = new SubjectView(subject as Subject);
      views.set(digest, view);
      if (keep) this.#kept.set(digest, view, { size: json.length + 1 });
    });
    return views;
  }
}
