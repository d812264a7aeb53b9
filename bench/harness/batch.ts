import { runBatch } from '../../src/app/run-batch.js';
import type { Submission } from '../../src/app/submit.js';
import type { Engine } from '../../src/compose.js';
import type { Packing } from '../../src/core/packing.js';
import { deliveryFaults, expectationsOf } from './exact.js';
import { expectedOf, type Workload } from './workload.js';

/** Milliseconds for which the bench keeps what is decided, unless it says otherwise. */
const RETENTION_MS = 600_000;

export interface BatchReport {
  /** Milliseconds from the opening to the last decision. */
  ms: number;
  faults: string[];
}

export interface BatchOptions {
  packing?: Packing;
  /** Executors that share the work. */
  workers?: number;
  retentionMs?: number;
}

/** Opens, judges and completes a batch; milliseconds until its last decision. */
export async function timeBatch(
  engine: Engine,
  { scenario, scenarioJson }: Pick<Workload, 'scenario' | 'scenarioJson'>,
  id: string,
  expected: number,
  submissions: Iterable<Submission>,
  { packing = 'auto', workers = 1, retentionMs = RETENTION_MS }: BatchOptions = {},
): Promise<number> {
  const settings = {
    fleet: engine.config.fleet,
    packing,
    expected,
    workers,
    deadlineMs: 3_600_000,
    checkAfterMs: 600_000,
  };
  const opening = {
    id,
    createdAt: Date.now(),
    options: { strict: false, from: 'direct' as const, informationalErrors: 'ignore' as const },
    scenarios: { [scenario.key]: scenario.digest },
    retentionMs,
  };
  const blobs = [{ digest: scenario.digest, content: scenarioJson }];
  const started = performance.now();
  await runBatch(engine, settings, opening, blobs, submissions, new AbortController().signal);
  return performance.now() - started;
}

/** Judges the first `count` runs as one batch, and looks at what was delivered. */
export async function judge(
  engine: Engine,
  workload: Workload,
  count: number,
  id: string,
  options: BatchOptions = {},
): Promise<BatchReport> {
  const { scenario } = workload;
  const runs = workload.runs.slice(0, count);
  const { outbox } = engine.store;
  const from = await outbox.lastEvent();
  // Whoever reads the outbox keeps its events: the inline engine drops those that nobody reads.
  await outbox.openReader(id, from);
  const submissions = runs.map(
    (run, index): Submission => ({ index, run: run.id, case: run.id, scenario, subject: run.subject }),
  );
  const ms = await timeBatch(engine, workload, id, count, submissions, options);
  const faults = await deliveryFaults(outbox, from, id, expectationsOf(runs, expectedOf));
  await outbox.closeReader(id);
  return { ms, faults };
}
