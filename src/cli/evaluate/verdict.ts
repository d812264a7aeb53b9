import type { BatchRecord } from '../../core/batch.js';
import type { BatchDocument } from '../../core/document.js';
import { SluiceError } from '../../core/problem.js';

/** The batch as it is printed: every number is the record's own. Throws INTERRUPTED when it did not come to its end. */
export function batchDocument(batch: BatchRecord, engine: 'fleet' | 'inline'): BatchDocument {
  if (batch.state !== 'completed' || batch.completedAt === null)
    throw new SluiceError('INTERRUPTED', `Batch "${batch.id}" is ${batch.state}, not completed.`);
  return {
    id: batch.id,
    total: batch.total ?? batch.decided,
    passed: batch.passed,
    failed: batch.failed,
    errored: batch.errored,
    vacuous_passes: batch.vacuousPasses,
    duration_ms: Math.max(0, batch.completedAt - batch.createdAt),
    engine,
  };
}

/** 0 when every evaluation passed, else 1 (DESIGN 8). */
export function verdictOf(batch: Pick<BatchDocument, 'total' | 'passed'>): 0 | 1 {
  return batch.total > 0 && batch.passed === batch.total ? 0 : 1;
}
