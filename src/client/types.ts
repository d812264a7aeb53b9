import type { z } from 'zod';
import type { batchStatusDocumentSchema } from '../core/document.js';
import type { EventName } from '../core/events.js';
import type { runRecordSchema } from '../core/run-record.js';
import type { requestSchema as batchRequestSchema, pageSchema } from '../http/operations/batches.js';
import type {
  acceptedSchema,
  requestSchema as evaluationRequestSchema,
  statusSchema,
} from '../http/operations/evaluations.js';
import type { answerSchema } from '../http/operations/uploads.js';
import type { cloudEventSchema, commandResultsSchema, eventsPageSchema } from '../http/schemas/events.js';
import type {
  droppedSchema,
  dropSchema,
  lettersSchema,
  redrivenSchema,
  redriveSchema,
  sinkSchema,
  sinksSchema,
} from '../http/schemas/letters.js';
import type {
  applySchema,
  cancelSchema,
  executedSchema,
  fixedSchema,
  newPlanSchema,
  planAnswerSchema,
  planStatusSchema,
  plansSchema,
  respondedSchema,
  strategizedSchema,
} from '../http/schemas/plans.js';
import type {
  attachedSchema,
  attachmentsSchema,
  attachSchema,
  detachedSchema,
  documentSchema,
  documentsSchema,
  explanationSchema,
  givenDocumentsSchema,
  registeredSchema,
  removedSchema,
} from '../http/schemas/registry.js';

// What goes in is what a schema takes, what comes out is what it yields.
export type EvaluationInput = z.input<typeof evaluationRequestSchema>;
export type EvaluationAccepted = z.output<typeof acceptedSchema>;
export type EvaluationState = z.output<typeof statusSchema>;
export type BatchInput = z.input<typeof batchRequestSchema>;
export type BatchState = z.output<typeof batchStatusDocumentSchema>;
export type BatchPage = z.output<typeof pageSchema>;
export type UploadAnswer = z.output<typeof answerSchema>;
export type RunInput = z.input<typeof runRecordSchema>;

export type NewPlanInput = z.input<typeof newPlanSchema>;
export type StrategizedInput = z.input<typeof strategizedSchema>;
export type ExecutedInput = z.input<typeof executedSchema>;
export type FixInput = z.input<typeof fixedSchema>;
export type ResponseInput = z.input<typeof respondedSchema>;
export type ApplyInput = z.input<typeof applySchema>;
export type CancelInput = z.input<typeof cancelSchema>;
export type PlanAnswer = z.output<typeof planAnswerSchema>;
export type PlanDocument = PlanAnswer['plan'];
export type PlanStatus = z.output<typeof planStatusSchema>;
export type Plans = z.output<typeof plansSchema>;

export type CloudEventInput = z.input<typeof cloudEventSchema>;
export type CommandResults = z.output<typeof commandResultsSchema>;
export type EventsPage = z.output<typeof eventsPageSchema>;

/** An event as Sluice sends it: a CloudEvent in JSON format. */
export interface SluiceEvent {
  specversion: '1.0';
  id: string;
  source: string;
  /** Such as dev.sluice.evaluation.passed.v1. */
  type: `dev.sluice.${EventName}.v1`;
  /** Evaluation, plan or batch. */
  subject: string;
  time: string;
  data: Record<string, unknown>;
  [attribute: string]: unknown;
}

export type Document = z.output<typeof documentSchema>;
export type Documents = z.output<typeof documentsSchema>;
export type DocumentsInput = z.input<typeof givenDocumentsSchema>;
export type Registered = z.output<typeof registeredSchema>;
export type Removed = z.output<typeof removedSchema>;
export type Attachments = z.output<typeof attachmentsSchema>;
export type AttachInput = z.input<typeof attachSchema>;
export type Attached = z.output<typeof attachedSchema>;
export type Detached = z.output<typeof detachedSchema>;
export type Explained = z.output<typeof explanationSchema>;

export type Letters = z.output<typeof lettersSchema>;
export type DropInput = z.input<typeof dropSchema>;
export type Dropped = z.output<typeof droppedSchema>;
export type RedriveInput = z.input<typeof redriveSchema>;
export type Redriven = z.output<typeof redrivenSchema>;
export type Sink = z.output<typeof sinkSchema>;
export type Sinks = z.output<typeof sinksSchema>;
