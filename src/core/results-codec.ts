import { type CheckResult, OUTCOMES, type Outcome } from './result.js';

type Row = [
  outcome: number,
  message: string,
  data: Record<string, unknown>,
  ms: number,
  tries: number,
  worker: number,
  enforced: 0 | 1,
];

/** Results of one evaluation, packed: a table of worker names and one row a check. */
export type PackedResults = [workers: string[], rows: (Row | null)[]];

/** Packs results for storing; about half the size of their JSON. A check without a result stays a gap. */
export function packResults(results: readonly (CheckResult | undefined)[]): PackedResults {
  const workers: string[] = [];
  const rows = results.map((result): Row | null => {
    if (result === undefined) return null;
    let worker = -1;
    if (result.worker !== null) {
      worker = workers.indexOf(result.worker);
      if (worker < 0) worker = workers.push(result.worker) - 1;
    }
    const enforced = result.read_only === 'enforced' ? 1 : 0;
    return [
      OUTCOMES.indexOf(result.outcome),
      result.message,
      result.data,
      result.duration_ms,
      result.tries,
      worker,
      enforced,
    ];
  });
  return [workers, rows];
}

/** Undoes {@link packResults}: a gap is undefined, a row that is none comes back as it is. Never throws. */
export function unpackResults(packed: unknown): (CheckResult | unknown)[] {
  if (!Array.isArray(packed) || !Array.isArray(packed[1])) return [];
  const [workers, rows] = packed as PackedResults;
  return rows.map((row) => {
    if (row === null) return undefined;
    if (!Array.isArray(row) || typeof row[0] !== 'number') return row;
    const [outcome, message, data, duration_ms, tries, worker, enforced] = row;
    return {
      outcome: OUTCOMES[outcome] as Outcome,
      message,
      data,
      duration_ms,
      tries,
      worker: (Array.isArray(workers) ? workers[worker] : undefined) ?? null,
      read_only: enforced === 1 ? 'enforced' : 'declared',
    } satisfies CheckResult;
  });
}
