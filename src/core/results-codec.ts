import { HitData, type PackedHit } from './hit.js';
import { isPlainObject } from './json.js';
import { type CheckResult, OUTCOMES, type Outcome } from './result.js';

/** One result; message and worker are places in a table of texts (-1: no worker). */
type Row = [
  outcome: number,
  message: number,
  data: Record<string, unknown> | PackedHit,
  ms: number,
  tries: number,
  worker: number,
  enforced: 0 | 1,
];

/** Rows by check; a check without a result is a gap. */
export type PackedRows = (Row | null)[];

/** What one pack brought back: for each of its evaluations the results from its first check on. */
export interface PackResults {
  texts: readonly string[];
  evaluations: { position: number; firstCheck: number; rows: PackedRows }[];
}

/** What a pack brought back, as it is stored. */
export interface RecordedResults extends PackResults {
  /** Where it is stored by itself, so that it may stand as the chunk's results as it is. */
  readonly stored?: { readonly stage: string; readonly json: string } | undefined;
}

/** All results of a chunk, as they are stored with its decisions: rows by the evaluation's position. */
export interface ChunkResults {
  texts: readonly string[];
  rows: Record<number, PackedRows>;
}

/**
 * Texts of a chunk's results, each kept once: a batch asks many runs the same, and gets the same
 * words for an answer.
 */
export class TextTable {
  readonly texts: string[] = [];
  readonly #places = new Map<string, number>();

  place(text: string): number {
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.texts.push(text) - 1;
      this.#places.set(text, place);
    }
    return place;
  }
}

/** Packs results; their texts go into the table. */
export function packRows(table: TextTable, results: readonly (CheckResult | undefined)[]): PackedRows {
  return results.map((result): Row | null => {
    if (result === undefined) return null;
    return [
      OUTCOMES.indexOf(result.outcome),
      table.place(result.message),
      HitData.pack(result.data) ?? result.data,
      result.duration_ms,
      result.tries,
      result.worker === null ? -1 : table.place(result.worker),
      result.read_only === 'enforced' ? 1 : 0,
    ];
  });
}

/** Undoes {@link packRows}: a gap is undefined, a row that is none comes back as it is. Never throws. */
export function unpackRows(texts: unknown, rows: unknown): (CheckResult | unknown)[] {
  if (!Array.isArray(rows)) return [];
  const table: unknown[] = Array.isArray(texts) ? texts : [];
  return (rows as unknown[]).map((row) => {
    if (row === null) return undefined;
    if (!Array.isArray(row) || typeof row[0] !== 'number' || typeof row[1] !== 'number') return row;
    const [outcome, message, data, duration_ms, tries, worker, enforced] = row as Row;
    return {
      outcome: OUTCOMES[outcome] as Outcome,
      message: table[message] as string,
      data: HitData.unpack(data) as CheckResult['data'],
      duration_ms,
      tries,
      worker: (table[worker] ?? null) as string | null,
      read_only: enforced === 1 ? 'enforced' : 'declared',
    } satisfies CheckResult;
  });
}

/** Reads stored results, a chunk's or those of one pack that brought all of them; what is none has no rows. */
export function parseChunkResults(json: string): ChunkResults {
  if (json.includes('\n')) return parseParts(json);
  const parsed: unknown = JSON.parse(json);
  if (!isPlainObject(parsed)) return { texts: [], rows: {} };
  if (isPlainObject(parsed.rows)) return parsed as unknown as ChunkResults;
  if (!Array.isArray(parsed.evaluations)) return { texts: [], rows: {} };
  const { texts, evaluations } = parsed as unknown as PackResults;
  return { texts, rows: Object.fromEntries(evaluations.map(({ position, rows }) => [position, rows])) };
}

/** Reads the results of a large evaluation: parts of one evaluation a line, each with its own texts. */
function parseParts(lines: string): ChunkResults {
  const table = new TextTable();
  const rows: PackedRows = [];
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const { texts, evaluations } = JSON.parse(line) as PackResults;
    for (const { firstCheck, rows: part } of evaluations) {
      const results = unpackRows(texts, part) as (CheckResult | undefined)[];
      packRows(table, results).forEach((row, i) => {
        if (row !== null) rows[firstCheck + i] = row;
      });
    }
  }
  return { texts: table.texts, rows: { 0: rows } };
}
