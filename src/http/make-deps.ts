import { batchesOf } from '../compose/batches.js';
import type { Engine } from '../compose/engine.js';
import { evaluationsOf, intakeOf } from '../compose/intake.js';
import { plansOf, registryOf } from '../compose/plans.js';
import { scaleOf } from '../compose/scale.js';
import type { HttpDeps } from './deps.js';

/** What operations work with, on an engine. */
export function makeDeps(engine: Engine, draining: AbortSignal): HttpDeps {
  return {
    engine,
    evaluations: evaluationsOf(engine),
    intake: intakeOf(engine),
    batches: batchesOf(engine),
    plans: plansOf(engine),
    registry: registryOf(engine),
    scale: scaleOf(engine, draining),
    draining,
  };
}
