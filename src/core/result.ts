import { z } from 'zod';

export const OUTCOMES = ['pass', 'fail', 'error', 'skipped'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** `enforced`: something kept the run from writing; `declared`: its author says that it does not (DESIGN 6.2). */
export const READ_ONLY = ['enforced', 'declared'] as const;
export type ReadOnly = (typeof READ_ONLY)[number];

/** One check's result as users see it (DESIGN 3.5). */
export const resultSchema = z.object({
  validation: z.string(),
  mode: z.enum(['required', 'informational']),
  outcome: z.enum(OUTCOMES),
  passed: z.boolean(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
  duration_ms: z.number().nonnegative().describe('Milliseconds of the run that counted'),
  attempt: z.number().int().min(1),
  tries: z.number().int().min(0).describe('Runs by the queue; 0 when nothing ran'),
  worker: z.string().nullable().describe('Id of the worker that ran it; null when none did'),
  read_only: z.enum(READ_ONLY),
  attachment_id: z.string(),
  attachment_resource: z.string(),
  attachment_scope: z.enum(['direct', 'project', 'plan']),
  attachment_scope_target: z.string().nullable(),
});
export type Result = z.infer<typeof resultSchema>;

/** The rule that a scenario result belongs to (DESIGN 8, `evaluate --json`). */
export const resultRuleSchema = z.object({
  scope: z.enum(['gateway', 'job', 'tasks']),
  index: z.number().int().min(0),
  label: z.string(),
  validator: z.string(),
  required: z.boolean(),
  negate: z.boolean(),
});
export const ruleResultSchema = resultSchema.extend({ rule: resultRuleSchema });
export type RuleResult = z.infer<typeof ruleResultSchema>;

/** What a worker sends back for one check; all else follows from the manifest. */
export interface CheckResult {
  outcome: Outcome;
  message: string;
  data: Record<string, unknown>;
  duration_ms: number;
  tries: number;
  worker: string | null;
  read_only: ReadOnly;
}
