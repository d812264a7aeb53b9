import type { EvaluationOptions } from './manifest.js';

export type BatchState = 'open' | 'completed' | 'cancelled' | 'stopped';

/** What a batch is opened with; a batch that is called again must be called with the same. */
export interface BatchOpening {
  id: string;
  createdAt: number;
  options: EvaluationOptions;
  /** Scenario key to scenario digest. */
  scenarios: Record<string, string>;
  /** Milliseconds that decided evaluations and their subjects are kept. */
  retentionMs: number;
  /** Its share of the workers beside other large batches, 1 to 100; absent: 1. */
  weight?: number;
}

/** A batch as it stands. passed, failed and errored are disjoint and add up to decided. */
export interface BatchRecord extends BatchOpening {
  state: BatchState;
  /** Number of evaluations; null until every one is accepted (sealed). */
  total: number | null;
  accepted: number;
  decided: number;
  passed: number;
  failed: number;
  errored: number;
  vacuousPasses: number;
  completedAt: number | null;
}

/** How an opening differs from the batch that stands under its id; empty when it may go on. */
export function openingConflicts(standing: BatchOpening, wanted: BatchOpening): string[] {
  const conflicts: string[] = [];
  for (const key of ['strict', 'from', 'informationalErrors'] as const) {
    const [was, is] = [standing.options[key], wanted.options[key]];
    if (was !== is) conflicts.push(`${key} was ${was}, now ${is}`);
  }
  const [held, holds] = [standing, wanted].map(({ options }) => options.requireEnforced === true);
  if (held !== holds) conflicts.push(`requireEnforced was ${held}, now ${holds}`);
  // Who says nothing of it goes on with what stands.
  if (wanted.weight !== undefined && wanted.weight !== (standing.weight ?? 1))
    conflicts.push(`weight was ${standing.weight ?? 1}, now ${wanted.weight}`);
  for (const [key, digest] of Object.entries(wanted.scenarios)) {
    const was = Object.hasOwn(standing.scenarios, key) ? standing.scenarios[key] : undefined;
    if (was === undefined) conflicts.push(`scenario ${key} is not part of it`);
    else if (was !== digest) conflicts.push(`scenario ${key} has changed since`);
  }
  return conflicts;
}

/** Whether every evaluation of the batch is accepted and decided. */
export function isComplete(batch: Pick<BatchRecord, 'total' | 'decided'>): boolean {
  return batch.total !== null && batch.decided >= batch.total;
}
