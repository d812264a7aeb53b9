import type { BatchIntake } from '../app/intake/batches.js';
import type { EvaluationIntake } from '../app/intake/evaluations.js';
import type { Intake } from '../app/intake/intake.js';
import type { PlanService } from '../app/plan/service.js';
import type { RegistryService } from '../app/registry/service.js';
import type { ScaleAnswers } from '../app/scale/answers.js';
import type { Engine } from '../compose/engine.js';

/** What operations work with. They touch it in `run` alone, so that OpenAPI can be written without a fleet. */
export interface HttpDeps {
  engine: Engine;
  evaluations: EvaluationIntake;
  intake: Intake;
  batches: BatchIntake;
  plans: PlanService;
  registry: RegistryService;
  scale: Pick<ScaleAnswers, 'answer'>;
  /** Where uploads are kept meanwhile; default: the system's folder for temporary files. */
  spoolFolder?: string;
  /** Milliseconds for which an upload may stand still once all of it has come; default 30,000. */
  patience?: number;
  /** Aborted when the server begins to drain. */
  draining: AbortSignal;
}
