import { type BatchRecord, isComplete } from '../core/batch.js';
import { batchCompletedEvent, batchProgressedEvent } from '../core/evaluation-events.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';

const STEPS = 10;

/** Reports a batch's progress in tenths, and its completion once everything is decided. */
export async function settleBatch(
  store: Store,
  clock: Clock,
  fleet: string,
  batch: BatchRecord | undefined,
): Promise<void> {
  if (batch === undefined || batch.state !== 'open' || batch.total === null) return;
  const now = clock.now();
  if (isComplete(batch)) {
    await store.batches.completeBatch(batch.id, now, batchCompletedEvent(fleet, batch, now));
    return;
  }
  const step = Math.floor((batch.decided * STEPS) / batch.total);
  if (step > 0)
    await store.batches.progressBatch(batch.id, step, batchProgressedEvent(fleet, batch, step, now));
}

/** Fixes a batch's total once every run is accepted, and completes it if all is decided already. */
export async function sealBatch(
  store: Store,
  clock: Clock,
  fleet: string,
  id: string,
  total: number,
): Promise<void> {
  await settleBatch(store, clock, fleet, await store.batches.sealBatch(id, total));
}
