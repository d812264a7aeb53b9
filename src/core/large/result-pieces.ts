import type { CheckResult } from '../result.js';
import { type PackResults, packRows, TextTable, unpackRows } from '../results-codec.js';

/** A part of what a pack brought back: checks `from` to `to` - 1 of one evaluation. */
function partOf(
  { texts }: PackResults,
  { position, firstCheck, rows }: PackResults['evaluations'][number],
  from: number,
  to: number,
): PackResults {
  const results = unpackRows(texts, rows.slice(from, to)) as (CheckResult | undefined)[];
  const table = new TextTable();
  const packed = packRows(table, results);
  return { texts: table.texts, evaluations: [{ position, firstCheck: firstCheck + from, rows: packed }] };
}

/**
 * What a pack brought back as JSON, in as many pieces as it takes for each to have at most about `most`
 * characters; one check that is longer is a piece of its own. Each piece stands for itself: together they
 * say what the whole says.
 */
export function resultPieces(results: PackResults, most: number): string[] {
  const json = JSON.stringify(results);
  const checks = results.evaluations.reduce((sum, { rows }) => sum + rows.length, 0);
  if (json.length <= most || checks < 2) return [json];
  const width = Math.max(1, Math.floor((checks * most) / json.length));
  return results.evaluations.flatMap((share) => {
    const count = Math.max(1, Math.ceil(share.rows.length / Math.min(width, checks - 1)));
    const step = Math.max(1, Math.ceil(share.rows.length / count));
    const pieces: string[] = [];
    for (let from = 0; from < share.rows.length; from += step)
      pieces.push(...resultPieces(partOf(results, share, from, from + step), most));
    return pieces;
  });
}
