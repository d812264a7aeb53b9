import type { BatchOpening, BatchRecord } from '../core/batch.js';
import type { Clock } from '../ports/clock.js';
import type { WorkQueue } from '../ports/queue.js';
import type { Blob, DecidedEntry, Store } from '../ports/store.js';
import { sealBatch } from './batches.js';
import { openBatch } from './opening.js';
import { EvaluationReader } from './read.js';
import { type Submission, type SubmitDeps, type SubmitSettings, Submitter } from './submit.js';

export interface RunBatchDeps {
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  pressure?: SubmitDeps['pressure'];
}

export interface RunBatchHooks {
  /** Called for what is decided, in the order in which it is decided. */
  onDecided?(entry: DecidedEntry): Promise<void>;
  /** Called when all that was decided up to this cursor of the batch's log has been handed on. */
  onRead?(cursor: string): void;
  /** Called when nothing was decided for half a second. */
  onWait?(): Promise<void>;
}

/**
 * Judges a batch from its opening to its last decision. Aborting stops waiting and submitting;
 * what was accepted goes on, and the same batch can be called again.
 */
export async function runBatch(
  deps: RunBatchDeps,
  settings: SubmitSettings,
  opening: BatchOpening,
  blobs: readonly Blob[],
  submissions: AsyncIterable<Submission> | Iterable<Submission>,
  signal: AbortSignal,
  hooks: RunBatchHooks = {},
): Promise<BatchRecord> {
  const { store, clock } = deps;
  const standing = await openBatch(store, opening);
  const submitting = submitAll(deps, settings, standing, blobs, submissions, signal);
  const failed = submitting.then(
    () => new Promise<never>(() => {}),
    (error: unknown) => Promise.reject(error as Error),
  );
  const following = follow(store, opening.id, signal, hooks);
  await Promise.race([following, failed]);
  await submitting;
  const batch = await store.batches.batch(opening.id);
  return batch ?? { ...standing, completedAt: clock.now() };
}

async function submitAll(
  deps: RunBatchDeps,
  settings: SubmitSettings,
  standing: BatchRecord,
  blobs: readonly Blob[],
  submissions: AsyncIterable<Submission> | Iterable<Submission>,
  signal: AbortSignal,
): Promise<void> {
  const { store, queue, clock, pressure } = deps;
  const parts = { store, queue, clock, signal, ...(pressure === undefined ? {} : { pressure }) };
  const submitter = new Submitter(parts, settings, standing, blobs);
  for await (const submission of submissions) {
    if (signal.aborted) break;
    await submitter.add(submission);
  }
  await submitter.finish();
  if (signal.aborted) return;
  // What was accepted, and not what was given: a run that is given twice is one evaluation.
  const total = (await deps.store.batches.batch(standing.id))?.accepted ?? 0;
  await sealBatch(deps.store, deps.clock, settings.fleet, standing.id, total);
}

async function follow(store: Store, batch: string, signal: AbortSignal, hooks: RunBatchHooks): Promise<void> {
  const reader = new EvaluationReader(store);
  for await (const entry of reader.inDecisionOrder(batch, signal, hooks)) {
    await hooks.onDecided?.(entry);
  }
}
