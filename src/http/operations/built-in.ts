import type { HttpDeps } from '../deps.js';
import type { Operation } from '../operation.js';
import { attachmentOperations } from './attachments.js';
import { batchOperations } from './batches.js';
import { commandOperations } from './commands.js';
import { documentOperations } from './documents.js';
import { evaluationOperations } from './evaluations.js';
import { eventOperations } from './events.js';
import { letterOperations } from './letters.js';
import { planOperations } from './plans.js';
import { registryOperations } from './registry.js';
import { scaleOperations } from './scale.js';
import { serviceOperations } from './service.js';
import { sinkOperations } from './sinks.js';

/** Every operation of the API, in the order of the OpenAPI document. */
export function createOperations(deps: HttpDeps): Operation[] {
  return [
    ...serviceOperations(deps, () => createOperations(deps)),
    ...scaleOperations(deps),
    ...documentOperations(),
    ...evaluationOperations(deps),
    ...batchOperations(deps),
    ...planOperations(deps),
    ...commandOperations(deps),
    ...eventOperations(deps),
    ...registryOperations(deps),
    ...attachmentOperations(deps),
    ...letterOperations(deps),
    ...sinkOperations(deps),
  ];
}
