import { isoTime } from '../../core/iso-time.js';
import { talliesOf } from '../../core/plan/event-data.js';
import type { Applicable, PlanCheck, PlanDecision, PlanState } from '../../core/plan/model.js';
import type { PlanLogEntry } from '../../ports/plans.js';
import type { PlanAnswer, PlanEvaluation, PlanEvaluationStatus, PlanStatus } from './requests.js';

type Document = Record<string, unknown>;

/** A plan as users see it. */
export function planDocument(plan: PlanState): Document {
  const { policy } = plan;
  return {
    id: plan.id,
    project: plan.project,
    resources: plan.resources,
    phase: plan.phase,
    revision: plan.revision,
    attempt: plan.attempt,
    ...talliesOf(plan),
    snapshots: plan.snapshots,
    awaits: plan.awaits,
    last_evaluation: plan.lastEvaluation,
    failing: plan.failing,
    gate: plan.gate,
    guidance: plan.guidance,
    require_validations: policy.requireValidations,
    require_enforced: policy.requireEnforced === true,
    deadline: plan.deadline === null ? null : isoTime(plan.deadline),
    created_at: isoTime(plan.createdAt),
    updated_at: isoTime(plan.updatedAt),
  };
}

function checkDocument(check: PlanCheck): Document {
  return {
    validation: check.validation,
    version: check.version,
    mode: check.mode,
    resource: check.resource,
    arguments: check.arguments,
    slot: check.slot,
    attachment_id: check.attachment,
    attachment_scope: check.scope,
    attachment_scope_target: check.target,
    subject_digest: check.subject === '' ? null : check.subject,
  };
}

const applicableDocument = ({ checks, unvalidated }: Applicable): Document => ({
  checks: checks.map(checkDocument),
  unvalidated,
});

function decisionDocument(decision: PlanDecision): Document {
  return {
    status: decision.status,
    passed: decision.passed,
    // Absent in what was decided before actors were kept.
    actor: decision.actor ?? null,
    gate: decision.gate,
    counts: decision.counts,
    vacuous: decision.vacuous,
    unvalidated: decision.unvalidated,
    results_digest: decision.resultsDigest,
    decided_at: isoTime(decision.decidedAt),
  };
}

export function evaluationDocument(each: PlanEvaluation): Document {
  return {
    evaluation: each.evaluation,
    attempt: each.attempt,
    stage: each.stage,
    accepted_at: isoTime(each.acceptedAt),
    decision: each.decision === null ? null : decisionDocument(each.decision),
    results: each.results,
  };
}

/** One evaluation of a plan by itself, with the keys that an evaluation of a run has as well. */
export function planEvaluationDocument(status: PlanEvaluationStatus): Document {
  const { evaluation: id, ...document } = evaluationDocument(status);
  const { plan, project, actor, deadline, decision } = status;
  return {
    id,
    state: decision === null ? 'pending' : 'decided',
    plan,
    project,
    actor,
    ...document,
    deadline: isoTime(deadline),
    unserved: unservedDocument(status.unserved),
  };
}

const unservedDocument = (unserved: PlanStatus['unserved']) =>
  unserved === null ? null : { needs: unserved.needs, since: isoTime(unserved.since) };

const logDocument = ({ at, ...entry }: PlanLogEntry): Document => ({ ...entry, at: isoTime(at) });

/** What came of a command; `decided` is the evaluation that was waited for. */
export function answerDocument(
  { row, repeated, applicable }: PlanAnswer,
  plan: PlanState,
  decided: PlanEvaluation | undefined,
): Document {
  return {
    plan: planDocument(plan),
    row,
    repeated,
    applicable: applicableDocument(applicable),
    ...(decided === undefined ? {} : { decided: evaluationDocument(decided) }),
  };
}

/** A plan with everything that happened to it. */
export function statusDocument({ plan, timeline, evaluations, checks, unserved }: PlanStatus): Document {
  return {
    plan: planDocument(plan),
    timeline: timeline.map(logDocument),
    evaluations: evaluations.map(evaluationDocument),
    checks,
    unserved: unservedDocument(unserved),
  };
}
