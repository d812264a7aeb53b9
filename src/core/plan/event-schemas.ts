import { z } from 'zod';
import { OUTCOMES } from '../result.js';
import { unservedShape } from '../routing.js';
import { PHASES, type PlanEventName } from './model.js';

const phase = z.enum(PHASES);
const mode = z.enum(['required', 'informational']);
const time = z.iso.datetime().describe('ISO 8601, UTC');
const digests = z.record(z.string(), z.string()).describe('SHA-256 of the snapshot, by resource');
const truncated = z.boolean().describe('Some of it was left out; dataref says where all of it lies');
const counters = z.strictObject({
  fixes: z.number().int().min(0).describe('Fixes under this strategy'),
  revisions: z.number().int().min(0).describe('Revisions of the strategy'),
  escalations: z.number().int().min(0).describe('Escalations answered with a retry'),
});

const plan = z.strictObject({
  plan: z.string(),
  project: z.string().nullable(),
  revision: z.number().int().min(1).describe('+ 1 with every transition'),
  phase,
  attempt: z.number().int().min(0).describe('The n-th time that it is judged; 0 before the first'),
  counters,
  limits: counters,
  actor: z.string().describe('Who moved it: who gave the command, or a role of Sluice'),
});

const entry = z.strictObject({
  validation: z.string(),
  resource: z.string(),
  attachment_id: z.string(),
  mode,
  arguments: z.record(z.string(), z.unknown()),
  outcome: z.enum(['fail', 'error', 'skipped']),
  message: z.string(),
  data: z.record(z.string(), z.unknown()),
  excerpt: z.string().optional(),
});
const named = z.strictObject({ validation: z.string(), resource: z.string() });

/** Why a gate is shut, as events carry it. */
const diagnosis = z.strictObject({
  evaluation: z.string(),
  attempt: z.number().int().min(1),
  failed: z.array(entry),
  errored: z.array(entry),
  advisories: z.array(entry).describe('Informational results that failed or errored; they block nothing'),
  passed: z.array(named),
  not_run: z.array(named).describe('Checks that wait until what failed passes'),
  unvalidated: z.array(z.string()).describe('Resources without a validation, where that shuts the gate'),
  truncated,
});

const cause = {
  evaluation: z.string().nullable().describe('The last evaluation that was decided'),
  message: z.string(),
  diagnosis: diagnosis.nullable(),
  truncated,
};

/** Data of the events of a plan's life, by the event's name (DESIGN 4.7, 7). */
export const planEventData = {
  'plan.phase.changed': plan.extend({
    from: phase.nullable(),
    to: phase,
    row: z.string().describe('Row of the lifecycle table'),
    evaluation: z.string().nullable().describe('The evaluation that the plan waits for'),
    deadline: time.nullable(),
    guidance: z.string().nullable().optional().describe('What a person answered to an escalation'),
  }),
  'plan.gate.passed': plan.extend({
    evaluation: z.string(),
    reason: z.string(),
    results: z.array(named.extend({ attachment_id: z.string(), mode, outcome: z.enum(OUTCOMES) })),
    results_total: z.number().int().min(0),
    digests,
    vacuous: z.boolean().describe('Nothing, or only data that was not there, was judged'),
    unvalidated: z.array(z.string()).describe('Resources without any validation'),
    advisories: z.number().int().min(0),
    expects: z.literal('plan.apply.requested'),
    truncated,
  }),
  'plan.retry.requested': plan.extend({
    evaluation: z.string(),
    fix: z.number().int().min(1).describe('The n-th fix under this strategy'),
    limit: z.number().int().min(1).describe('Most fixes under this strategy, of this failure'),
    reason: z.string(),
    failing: z.array(z.string()).describe('Attachments of the required checks that did not pass'),
    failing_total: z.number().int().min(0),
    diagnosis,
    expects: z.literal('plan.fixed'),
    deadline: time,
    next: z.string(),
    next_on_failure: z.enum(['fix', 'strategize', 'escalated', 'failed']),
    truncated,
  }),
  'plan.revision.requested': plan.extend({
    ...cause,
    strategy_revision: z.number().int().min(1),
    limit: z.number().int().min(1),
    reason: z.enum(['fixes_used_up', 'not_retryable', 'fix_deadline']),
    applicable: z.array(named.extend({ mode, arguments: z.record(z.string(), z.unknown()) })),
    applicable_total: z.number().int().min(0),
    expects: z.literal('plan.strategized'),
    deadline: time,
  }),
  'plan.escalated': plan.extend({
    ...cause,
    reason: z.enum(['revisions_used_up', 'strategize_deadline', 'execute_deadline']),
    expects: z.literal('plan.responded'),
    deadline: time,
  }),
  'plan.failed': plan.extend({
    ...cause,
    reason: z.enum(['escalations_used_up', 'escalation_deadline', 'aborted']),
  }),
  'plan.applied': plan.extend({ evaluation: z.string(), digests, truncated }),
  'plan.cancelled': plan.extend({ from: phase, reason: z.string().nullable() }),
} satisfies Record<PlanEventName, z.ZodObject>;

const evaluation = z.strictObject({
  evaluation: z.string(),
  plan: z.string(),
  project: z.string().nullable(),
  stage: z.enum(['all', 'failed_first', 'rest']),
  earlier: z.string().nullable().describe('The evaluation of the checks that were judged first'),
  subject_digest: z.string(),
  attempt: z.number().int().min(1),
});

const brief = named.extend({
  attachment_id: z.string(),
  mode,
  outcome: z.enum(OUTCOMES),
  message: z.string(),
});
const oneCheck = evaluation.extend({ ...brief.shape, data: z.record(z.string(), z.unknown()), truncated });

const asker = z.string().nullable().describe('Who asked for it; null: not known');

/** Counts of the results of a plan's evaluation, as events and documents have them. */
export const countsShape = {
  passed: z.number().int(),
  failed: z.number().int(),
  errored: z.number().int(),
  skipped: z.number().int(),
  vacuous: z.number().int(),
  advisories: z.number().int(),
};

const decided = evaluation.extend({
  actor: asker,
  decision: z.enum(['passed', 'failed', 'errored', 'cancelled']),
  gates: z.strictObject({ plan: z.strictObject({ passed: z.boolean(), reason: z.string() }) }),
  counts: z.strictObject(countsShape),
  vacuous: z.boolean(),
  unvalidated: z.array(z.string()),
  results_digest: z.string(),
  truncated,
});

/** Data of the events of a plan's evaluations, by the event's name. */
export const planEvaluationData = {
  'evaluation.accepted': evaluation.extend({ actor: asker, checks: z.number().int().min(0) }),
  'evaluation.unserved': evaluation.extend(unservedShape),
  'evaluation.passed': decided,
  'evaluation.failed': decided,
  'advisory.raised': evaluation.extend({
    advisories: z.array(brief),
    total: z.number().int().min(0),
    unvalidated: z.array(z.string()),
    truncated,
  }),
  'validation.failed': oneCheck,
  'validation.errored': oneCheck,
};
