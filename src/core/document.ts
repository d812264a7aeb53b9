import { z } from 'zod';
import { ruleResultSchema } from './result.js';

const gateSchema = z.object({ passed: z.boolean(), reason: z.string() });

/** One evaluation as `evaluate --json` and the reports show it (DESIGN 8). */
export const evaluationDocumentSchema = z.object({
  id: z.string(),
  run: z.string(),
  case: z.string(),
  scenario: z.string(),
  scenario_digest: z.string(),
  subject_digest: z.string(),
  passed: z.boolean(),
  score: z.object({
    passed: z.number().int().min(0),
    total: z.number().int().min(0),
    percent: z.number().int().min(0).max(100).nullable(),
  }),
  gates: z.object({ compliance: gateSchema, resolution: gateSchema }),
  results: z.array(ruleResultSchema),
});
export type EvaluationDocument = z.infer<typeof evaluationDocumentSchema>;

/** An evaluation with its position in the batch's input, from 0. */
export const indexedEvaluationSchema = evaluationDocumentSchema.extend({
  index: z.number().int().min(0),
});
export type IndexedEvaluation = z.infer<typeof indexedEvaluationSchema>;

/** Totals of a batch; passed, failed and errored are disjoint. */
export const batchDocumentSchema = z.object({
  id: z.string(),
  total: z.number().int().min(0),
  passed: z.number().int().min(0),
  failed: z.number().int().min(0),
  errored: z.number().int().min(0),
  vacuous_passes: z.number().int().min(0),
  duration_ms: z.number().min(0),
  engine: z.enum(['fleet', 'inline']),
});
export type BatchDocument = z.infer<typeof batchDocumentSchema>;

export const evaluateDocumentSchema = z.object({
  batch: batchDocumentSchema,
  evaluations: z.array(evaluationDocumentSchema),
});

/** A batch as it stands (DESIGN 8: `batch status`). */
export const batchStatusDocumentSchema = z.object({
  id: z.string(),
  state: z.enum(['open', 'completed', 'cancelled', 'stopped']),
  total: z.number().int().min(0).describe('Evaluations; while it is not sealed, those accepted so far'),
  passed: z.number().int().min(0),
  failed: z.number().int().min(0).describe('Not passed, and without an error'),
  errored: z.number().int().min(0).describe('Not passed, and with an error'),
  pending: z.number().int().min(0).describe('Not decided yet'),
  vacuous_passes: z.number().int().min(0).describe('Checks that passed for lack of data'),
  sealed: z.boolean().describe('No run comes any more'),
  created_at: z.iso.datetime(),
  weight: z.number().int().min(1).describe('Its share of the workers beside other large batches'),
  completed_at: z.iso.datetime().nullable(),
});
export type BatchStatusDocument = z.infer<typeof batchStatusDocumentSchema>;
