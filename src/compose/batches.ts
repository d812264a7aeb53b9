import { BatchIntake } from '../app/intake/batches.js';
import type { Engine } from './engine.js';

/** Batches of an engine's fleet that are opened before their runs come. */
export function batchesOf(engine: Engine): BatchIntake {
  const { store, queue, clock, config, pressure } = engine;
  const { evaluation, sweeper } = config;
  return new BatchIntake({
    store,
    queue,
    clock,
    ...(pressure === undefined ? {} : { pressure }),
    fleet: config.fleet,
    defaults: {
      deadlineMs: evaluation.deadline,
      retentionMs: evaluation.retention,
      checkAfterMs: sweeper.check_after,
      informationalErrors: evaluation.informational_errors,
      requireEnforced: evaluation.require_enforced,
      window: config.fairness.window,
    },
  });
}
