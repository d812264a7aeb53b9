import { isPlainObject } from '../core/json.js';
import { type PackResults, type RecordedResults, unpackRows } from '../core/results-codec.js';
import type { EvaluationStore, RecordedPage } from '../ports/store.js';

/** All that was recorded for a chunk, from its first page on. */
export async function allOf(
  store: Pick<EvaluationStore, 'recordedPage'>,
  chunk: string,
  first: RecordedPage,
): Promise<RecordedResults[]> {
  const all = first.results;
  for (let { next } = first; next !== undefined; ) {
    const page: RecordedPage = await store.recordedPage(chunk, next);
    all.push(...page.results);
    next = page.next;
  }
  return all;
}

type Share = PackResults['evaluations'][number];

function isShare(value: unknown): value is Share {
  if (!isPlainObject(value)) return false;
  const { position, firstCheck } = value;
  return Number.isSafeInteger(position) && Number.isSafeInteger(firstCheck) && Number(firstCheck) >= 0;
}

/** What was recorded, by evaluation and check: the first result of a check stands. */
export function firstResults(recorded: readonly PackResults[]): Map<number, unknown[]> {
  const found = new Map<number, unknown[]>();
  for (const pack of recorded) {
    // Another version, or a bug, may have written it: what cannot be read brings no result.
    const { texts, evaluations }: { texts?: unknown; evaluations?: unknown } = isPlainObject(pack)
      ? pack
      : {};
    for (const share of Array.isArray(evaluations) ? (evaluations as unknown[]) : []) {
      if (!isShare(share)) continue;
      const { position, firstCheck, rows } = share;
      const checks = found.get(position) ?? [];
      found.set(position, checks);
      unpackRows(texts, rows).forEach((result, i) => {
        checks[firstCheck + i] ??= result;
      });
    }
  }
  return found;
}
