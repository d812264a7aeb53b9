import { type BatchRecord, openingConflicts } from '../../core/batch.js';
import type { BatchStatusDocument } from '../../core/document.js';
import { isoTime } from '../../core/iso-time.js';
import type { EvaluationOptions } from '../../core/manifest.js';
import { SluiceError, show } from '../../core/problem.js';
import type { Scenario } from '../../core/scenario/model.js';
import type { Clock } from '../../ports/clock.js';
import type { WorkQueue } from '../../ports/queue.js';
import type { Blob, Store } from '../../ports/store.js';
import { type EvaluationPage, evaluationPage } from '../batch-pages.js';
import { sealBatch } from '../batches.js';
import { DEAD_AFTER_MS } from '../living.js';
import { blobsOf, openingOf, type ScenarioWithBundle } from '../opening.js';
import { EvaluationReader } from '../read.js';
import { ScenarioCache } from '../scenarios.js';
import { type Submission, type SubmitDeps, type SubmitReport, Submitter } from '../submit.js';

export interface BatchIntakeDeps {
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  pressure?: SubmitDeps['pressure'];
  fleet: string;
  /** What holds for batches that say nothing else; milliseconds. */
  defaults: {
    deadlineMs: number;
    retentionMs: number;
    checkAfterMs: number;
    informationalErrors: EvaluationOptions['informationalErrors'];
    requireEnforced: boolean;
    /** Evaluations of one batch that may be accepted and not decided. */
    window: number;
  };
}

/** What a batch is opened with. */
export interface BatchRequest {
  id: string;
  scenarios: readonly ScenarioWithBundle[];
  /** Default false. */
  strict?: boolean | undefined;
  /** Default direct. */
  from?: EvaluationOptions['from'] | undefined;
  /** Milliseconds that decided evaluations are kept; default: that of the settings. */
  retentionMs?: number | undefined;
  /** Its share of the workers beside other large batches, 1 to 100; default 1. */
  weight?: number | undefined;
}

/** A batch with what its runs need. */
export interface OpenedBatch {
  record: BatchRecord;
  scenarios: Scenario[];
  blobs: Blob[];
}

/** A batch as users see it. */
export function batchStatus(batch: BatchRecord): BatchStatusDocument {
  const total = batch.total ?? batch.accepted;
  return {
    id: batch.id,
    state: batch.state,
    total,
    passed: batch.passed,
    failed: batch.failed,
    errored: batch.errored,
    pending: Math.max(0, total - batch.decided),
    vacuous_passes: batch.vacuousPasses,
    sealed: batch.total !== null,
    created_at: isoTime(batch.createdAt),
    weight: batch.weight ?? 1,
    completed_at: batch.completedAt === null ? null : isoTime(batch.completedAt),
  };
}

/** Batches that are opened first, get their runs later and are read page by page. */
export class BatchIntake {
  readonly #deps: BatchIntakeDeps;
  readonly #scenarios: ScenarioCache;
  readonly #reader: EvaluationReader;

  constructor(deps: BatchIntakeDeps) {
    this.#deps = deps;
    this.#scenarios = new ScenarioCache(deps.store.evaluations);
    this.#reader = new EvaluationReader(deps.store);
  }

  /**
   * Opens a batch, or finds the same under its id. Its scenarios are kept for as long as evaluations of now
   * would be. Throws BATCH_CONFLICT when it was opened with something else.
   */
  async open(request: BatchRequest): Promise<{ batch: BatchRecord; isNew: boolean }> {
    const { store, clock, defaults } = this.#deps;
    const options: EvaluationOptions = {
      strict: request.strict ?? false,
      from: request.from ?? 'direct',
      informationalErrors: defaults.informationalErrors,
      ...(defaults.requireEnforced ? { requireEnforced: true } : {}),
    };
    const retentionMs = request.retentionMs ?? defaults.retentionMs;
    const { id, scenarios, weight = 1 } = request;
    const opening = openingOf(id, clock.now(), options, scenarios, retentionMs, weight);
    const before = await store.batches.batch(request.id);
    const kept = { blobs: blobsOf(request.scenarios), leaseMs: defaults.deadlineMs + retentionMs };
    // What does not fit the batch that stands is not stored beside it.
    if (before !== undefined) assertSame(before, opening);
    const batch = await store.batches.openBatch(opening, kept);
    assertSame(batch, opening);
    return { batch, isNew: before === undefined };
  }

  /** Throws NOT_FOUND when there is no such batch (any more). */
  async status(id: string): Promise<BatchRecord> {
    const batch = await this.#deps.store.batches.batch(id);
    if (batch !== undefined) return batch;
    throw new SluiceError('NOT_FOUND', `There is no batch ${show(id)}, or it is kept no longer.`);
  }

  /** A batch with its scenarios. Throws NOT_FOUND; BATCH_CONFLICT when its scenarios are kept no longer. */
  async opened(id: string): Promise<OpenedBatch> {
    const record = await this.status(id);
    const digests = Object.values(record.scenarios);
    const found = await this.#scenarios.get(digests);
    const scenarios = digests.flatMap((digest) => found.get(digest) ?? []);
    const bundles = [...new Set(scenarios.flatMap(({ bundle }) => bundle ?? []))];
    const wanted = [...new Set([...digests, ...bundles])];
    const contents = await this.#deps.store.evaluations.blobs(wanted);
    const blobs = wanted.flatMap((digest, n): Blob[] => {
      const content = contents[n];
      return content === undefined ? [] : [{ digest, content }];
    });
    if (scenarios.length < digests.length || blobs.length < wanted.length) {
      const message = `The scenarios of batch ${show(id)} are kept no longer. Open it again as it was (PUT), then send its runs.`;
      throw new SluiceError('BATCH_CONFLICT', message);
    }
    return { record, scenarios, blobs };
  }

  /**
   * Accepts runs; memory stays flat however many come. What was accepted before is the same evaluation.
   * `moved` is told while they wait for room, whenever something goes on.
   * Throws BATCH_CONFLICT: the batch takes no more, or a run was judged in it with other content.
   */
  async submit(
    { record, blobs }: OpenedBatch,
    submissions: AsyncIterable<Submission>,
    expected: number,
    actor: string,
    moved?: () => void,
  ): Promise<SubmitReport> {
    const { store, queue, clock, pressure, fleet, defaults } = this.#deps;
    const alive = await store.roster.alive(clock.now() - DEAD_AFTER_MS);
    const workers = Math.max(1, alive.filter(({ role }) => role === 'worker').length);
    const settings = {
      fleet,
      packing: 'auto' as const,
      expected,
      workers,
      deadlineMs: defaults.deadlineMs,
      checkAfterMs: defaults.checkAfterMs,
      window: defaults.window,
      actor,
    };
    const deps = {
      store,
      queue,
      clock,
      ...(pressure === undefined ? {} : { pressure }),
      ...(moved === undefined ? {} : { moved }),
    };
    const submitter = new Submitter(deps, settings, record, blobs);
    try {
      for await (const submission of submissions) await submitter.add(submission);
      return await submitter.finish();
    } catch (error) {
      throw withoutOptions(error);
    }
  }

  /** No run comes any more: it is complete once all are decided. Throws NOT_FOUND. */
  async seal(id: string): Promise<BatchRecord> {
    const { store, clock, fleet } = this.#deps;
    const { accepted, total } = await this.status(id);
    if (total === null) await sealBatch(store, clock, fleet, id, accepted);
    return this.status(id);
  }

  /** Its decided evaluations in input order, page by page. Throws NOT_FOUND, INVALID_REQUEST. */
  async evaluations(id: string, cursor: string | undefined, limit: number): Promise<EvaluationPage> {
    await this.status(id);
    return evaluationPage(this.#deps.store, this.#reader, id, cursor, limit);
  }
}

/** Messages of the command line name its options. */
function withoutOptions(error: unknown): unknown {
  if (!(error instanceof SluiceError)) return error;
  const message = error.message.replace(/another --batch\b/, 'another batch');
  return new SluiceError(error.code, message, error.problems);
}

function assertSame(standing: BatchRecord, wanted: ReturnType<typeof openingOf>): void {
  const conflicts = openingConflicts(standing, wanted);
  for (const key of Object.keys(standing.scenarios)) {
    if (!Object.hasOwn(wanted.scenarios, key)) conflicts.push(`scenario ${key} is missing`);
  }
  if (standing.retentionMs !== wanted.retentionMs)
    conflicts.push(`retention was ${standing.retentionMs} ms, now ${wanted.retentionMs} ms`);
  if (conflicts.length === 0) return;
  const message = `Batch ${show(wanted.id)} was opened with something else: ${conflicts.join('; ')}. Take another id.`;
  throw new SluiceError('BATCH_CONFLICT', message);
}
