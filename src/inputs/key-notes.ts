import { distance } from 'fastest-levenshtein';
import { isPlainObject } from '../core/json.js';
import { nearestName } from '../core/problem.js';
import { RUN_KEYS } from '../core/run-record.js';

/** Records that are looked at: a slip of the producer is in the first ones too. */
const MOST_RECORDS = 1000;
const MOST_TASKS = 20;
/** Kinds of slips that are told; the rest are counted. */
const MOST_TOLD = 5;
const MOST_KINDS = 1000;

/** A known key that this unknown one was probably meant to be, among those that its object lacks. */
function meant(key: string, object: Record<string, unknown>, known: readonly string[]): string | undefined {
  const free = known.filter((name) => !Object.hasOwn(object, name));
  const wanted = key.toLowerCase();
  const nearest = nearestName(wanted, free);
  const most = Math.max(1, Math.floor(wanted.length / 5));
  if (nearest !== undefined && distance(wanted, nearest) <= most) return nearest;
  return wanted.length < 4 ? undefined : free.find((name) => name.startsWith(wanted));
}

/**
 * Collects unknown keys of run records that are near a known one: they are ignored (DESIGN 8), and a
 * slip of the pen would make every rule about the known one fail for lack of data.
 */
export class KeyNotes {
  #records = 0;
  readonly #kinds = new Map<string, { runs: number; nearest: string; last: number }>();

  /** Looks at a record as it was read, one of the first thousand at the most. */
  look(record: unknown): void {
    if (this.#records >= MOST_RECORDS || !isPlainObject(record)) return;
    this.#records += 1;
    this.#lookAt(record, RUN_KEYS.run, '');
    for (const part of ['job', 'ticket', 'target'] as const) {
      const value = record[part];
      if (isPlainObject(value)) this.#lookAt(value, RUN_KEYS[part], `${part}.`);
    }
    if (!Array.isArray(record.tasks)) return;
    for (const task of record.tasks.slice(0, MOST_TASKS))
      if (isPlainObject(task)) this.#lookAt(task, RUN_KEYS.tasks, 'tasks[].');
  }

  #lookAt(object: Record<string, unknown>, known: readonly string[], prefix: string): void {
    for (const key of Object.keys(object)) {
      if (known.includes(key)) continue;
      const nearest = meant(key, object, known);
      if (nearest === undefined) continue;
      const kind = this.#kinds.get(prefix + key);
      if (kind === undefined) {
        if (this.#kinds.size < MOST_KINDS)
          this.#kinds.set(prefix + key, { runs: 1, nearest, last: this.#records });
      } else if (kind.last !== this.#records) {
        kind.runs += 1;
        kind.last = this.#records;
      }
    }
  }

  /** One sentence for each kind of slip, the most frequent first, five at the most. */
  sentences(): string[] {
    const kinds = [...this.#kinds].sort(([, a], [, b]) => b.runs - a.runs);
    const of = this.#records < MOST_RECORDS ? '' : ` of the first ${MOST_RECORDS}`;
    const told = kinds.slice(0, MOST_TOLD).map(([path, { runs, nearest }]) => {
      const where = `in ${runs}${of} ${runs === 1 && of === '' ? 'run' : 'runs'}`;
      return `${path} is not a key of a run record and is ignored (${where}); did you mean "${nearest}"?`;
    });
    const more = kinds.length - told.length;
    return more > 0 ? [...told, `... and ${more} more keys that look like slips`] : told;
  }
}
