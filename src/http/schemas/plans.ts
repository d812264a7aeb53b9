import { z } from 'zod';
import { commandData } from '../../core/commands/data.js';
import { countsShape } from '../../core/plan/event-schemas.js';
import { PHASES } from '../../core/plan/model.js';
import { resultSchema } from '../../core/result.js';
import { time } from './common.js';

const phase = z.enum(PHASES);
const stage = z.enum(['all', 'failed_first', 'rest']);
const counters = z.object({
  fixes: z.number().int().describe('Fixes under this strategy'),
  revisions: z.number().int().describe('Revisions of the strategy'),
  escalations: z.number().int().describe('Escalations answered with a retry'),
});

/** A plan as it stands. */
export const planSchema = z.object({
  id: z.string(),
  project: z.string().nullable(),
  resources: z.array(z.string()),
  phase,
  revision: z.number().int().describe('1 when created; + 1 with every transition'),
  attempt: z.number().int().describe('The n-th time that it is judged; 0 before the first'),
  counters,
  limits: counters,
  snapshots: z.record(z.string(), z.string()).nullable().describe('SHA-256 of the snapshot, by resource'),
  awaits: z
    .object({ evaluation: z.string(), stage })
    .nullable()
    .describe('The evaluation whose decision moves it; null: none'),
  last_evaluation: z.string().nullable(),
  failing: z.array(z.string()).describe('Attachments of the checks that kept the gate shut'),
  gate: z.string().nullable().describe('Digest of the set of checks that the gate opened on; null: shut'),
  guidance: z.string().nullable().describe('What a person answered to the last escalation'),
  require_validations: z.boolean(),
  require_enforced: z.boolean(),
  deadline: time.nullable(),
  created_at: time,
  updated_at: time,
});

const checkSchema = z.object({
  validation: z.string(),
  version: z.string(),
  mode: z.enum(['required', 'informational']),
  resource: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  slot: z.string().nullable(),
  attachment_id: z.string(),
  attachment_scope: z.enum(['direct', 'project', 'plan']),
  attachment_scope_target: z.string().nullable(),
  subject_digest: z.string().nullable(),
});

/** What came of a command. */
export const planAnswerSchema = z.object({
  plan: planSchema.describe('After the command; as it stands now where the command was taken before'),
  row: z.string().describe('Row of the lifecycle table'),
  repeated: z.boolean().describe('The command was taken before; nothing was done'),
  applicable: z.object({
    checks: z.array(checkSchema).describe('Checks that apply to its resources now'),
    unvalidated: z.array(z.string()).describe('Resources without any validation'),
  }),
});

const decisionSchema = z.object({
  status: z.enum(['passed', 'failed', 'errored', 'cancelled']),
  passed: z.boolean(),
  gate: z.object({ passed: z.boolean(), reason: z.string() }),
  counts: z.object(countsShape),
  vacuous: z.boolean(),
  unvalidated: z.array(z.string()),
  actor: z.string().nullable().optional(),
  results_digest: z.string(),
  decided_at: time,
});

const judged = z.object({
  attempt: z.number().int(),
  outcome: z.enum(['pass', 'fail', 'error', 'skipped']),
  message: z.string(),
});

const evaluationSchema = z.object({
  evaluation: z.string(),
  attempt: z.number().int(),
  stage,
  accepted_at: time,
  decision: decisionSchema.nullable().describe('null while it runs'),
  results: z.array(resultSchema),
});

const unserved = z
  .object({ needs: z.array(z.string()), since: time })
  .nullable()
  .describe('What it waits for and no living worker serves');

/** One evaluation of a plan by itself. */
export const planEvaluationSchema = evaluationSchema
  .omit({ evaluation: true })
  .extend({
    id: z.string(),
    state: z.enum(['pending', 'decided']),
    plan: z.string().describe('The plan that is judged'),
    project: z.string().nullable(),
    actor: z.string().nullable().describe('Who gave the command that led to it; null: not known'),
    deadline: time.describe('What has no result by then is decided as an error'),
    unserved,
  })
  .describe('An evaluation of a plan');

/** A plan with everything that happened to it. */
export const planStatusSchema = z.object({
  plan: planSchema,
  timeline: z.array(
    z.object({
      revision: z.number().int(),
      at: time,
      actor: z.string(),
      command: z.string(),
      row: z.string(),
      from: phase.nullable(),
      to: phase,
      attempt: z.number().int(),
      decided: z.string().nullable().describe('The evaluation that was decided by this step'),
      evaluation: z.string().nullable().describe('The evaluation that this step asked for'),
      note: z.string().nullable().describe('Guidance, reason, or why the gate is shut'),
    }),
  ),
  evaluations: z.array(evaluationSchema),
  checks: z
    .array(
      z.object({
        attachment_id: z.string(),
        validation: z.string(),
        resource: z.string(),
        mode: z.enum(['required', 'informational']),
        arguments: z.record(z.string(), z.unknown()),
        applies: z.boolean().nullable().describe('null once the plan is over'),
        first: judged,
        final: judged,
        judged: z.number().int(),
      }),
    )
    .describe('First and last result of each check'),
  unserved,
});

const data = commandData;
const ofPlan = { plan: true } as const;

export const newPlanSchema = z.union([data['plan.created'], data['plan.submitted']], {
  error: 'expected resources, to create a plan; or snapshots or references, to submit finished work',
});
export const strategizedSchema = data['plan.strategized'].omit(ofPlan);
export const executedSchema = data['plan.executed'].omit(ofPlan);
export const fixedSchema = data['plan.fixed'].omit(ofPlan);
export const respondedSchema = data['plan.responded'].omit(ofPlan);
export const applySchema = data['plan.apply.requested'].omit(ofPlan);
export const cancelSchema = data['plan.cancel.requested'].omit(ofPlan);

export const plansSchema = z.object({ plans: z.array(planSchema).describe('The newest first') });
