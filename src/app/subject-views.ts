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

  /** By digest, and kept: other packs will ask for them. Those that are no longer stored, or no JSON, are absent. */
  async get(wanted: Iterable<string>): Promise<Map<string, SubjectView>> {
    const views = new Map<string, SubjectView>();
    const missing = new Set<string>();
    for (const digest of wanted) {
      const kept = this.#kept.get(digest);
      if (kept === undefined) missing.add(digest);
      else views.set(digest, kept);
    }
    if (missing.size === 0) return views;
    this.#ask([...missing].filter((digest) => !this.#coming.has(digest)));
    const coming = new Set([...missing].map((digest) => this.#coming.get(digest)));
    for (const found of await Promise.all(coming)) {
      for (const digest of missing) {
        const view = found?.get(digest);
        if (view !== undefined) views.set(digest, view);
      }
    }
    return views;
  }

  /**
   * As `get`, for those that nobody asks for again. Texts are read now and views made when they are asked for:
   * what is alive for a short time only costs the garbage collector nothing.
   */
  async read(wanted: Iterable<string>): Promise<() => Map<string, SubjectView>> {
    const kept = new Map<string, SubjectView>();
    const missing = new Set<string>();
    for (const digest of wanted) {
      const view = this.#kept.get(digest);
      if (view === undefined) missing.add(digest);
      else kept.set(digest, view);
    }
    const digests = [...missing];
    const contents = await this.#store.blobs(digests);
    return () => new Map([...kept, ...viewsOf(digests, contents)]);
  }

  #ask(digests: readonly string[]): void {
    if (digests.length === 0) return;
    const coming = this.#read(digests).finally(() => {
      for (const digest of digests) this.#coming.delete(digest);
    });
    for (const digest of digests) this.#coming.set(digest, coming);
  }

  async #read(digests: readonly string[]): Promise<Map<string, SubjectView>> {
    const contents = await this.#store.blobs(digests);
    const views = viewsOf(digests, contents);
    digests.forEach((digest, i) => {
      const view = views.get(digest);
      if (view !== undefined) this.#kept.set(digest, view, { size: (contents[i]?.length ?? 0) + 1 });
    });
    return views;
  }
}

function viewsOf(
  digests: readonly string[],
  contents: readonly (string | undefined)[],
): Map<string, SubjectView> {
  const views = new Map<string, SubjectView>();
  digests.forEach((digest, i) => {
    const json = contents[i];
    const subject = json === undefined ? undefined : guarded(() => JSON.parse(json) as Subject).value;
    if (isPlainObject(subject)) views.set(digest, new SubjectView(subject as Subject));
  });
  return views;
}
