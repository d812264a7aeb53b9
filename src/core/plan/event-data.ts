import { isoTime } from '../iso-time.js';
import { clipped, fitting } from './fit.js';
import type { Applicable, Diagnosis, PlanCheck, PlanCommand, PlanState, PlanVerdict } from './model.js';
import { checkKey } from './model.js';

/** Bytes that the lists of an event may take beside its diagnosis, so that the whole stays below 48 KiB. */
const APPLICABLE_BYTES = 8 * 1024;
const FAILING_BYTES = 4 * 1024;
const RESULTS_BYTES = 24 * 1024;
const DIGESTS_BYTES = 12 * 1024;
const UNVALIDATED_BYTES = 4 * 1024;
/** UTF-16 units of what people wrote. */
const WORDS = 2000;

/** What a person wrote, as events carry it. */
export const words = (text: string): string => clipped(text, WORDS);

/** Why a plan left the way of fixes, in one word and in one sentence. */
export interface Cause {
  reason: string;
  message: string;
}

type Data = Record<string, unknown>;

/** How often a plan has gone each way round, and how often it may. */
export function talliesOf({ fixes, revisions, escalations, policy }: PlanState) {
  const { fixes: mostFixes, revisions: mostRevisions, escalations: mostEscalations } = policy;
  return {
    counters: { fixes, revisions, escalations },
    limits: { fixes: mostFixes, revisions: mostRevisions, escalations: mostEscalations },
  };
}

const told = ({ reason, message }: Cause): Cause => ({ reason, message: words(message) });

const named = ({ validation, resource, mode, arguments: given }: PlanCheck) => ({
  validation,
  resource,
  mode,
  arguments: given,
});

const deadlineOf = ({ deadline }: PlanState) => (deadline === null ? null : isoTime(deadline));

/** `truncated`: a list or the diagnosis does not hold all that there is. */
function cutBy(...cut: (boolean | undefined)[]): { truncated: boolean } {
  return { truncated: cut.some((one) => one === true) };
}

/** Which phase a failure leads to when fixes are over. */
export function afterFixes({
  policy,
  revisions,
  escalations,
}: PlanState): 'strategize' | 'escalated' | 'failed' {
  if (revisions < policy.revisions) return 'strategize';
  return escalations < policy.escalations ? 'escalated' : 'failed';
}

const NEXT = {
  fix: 'the next fix is asked for',
  strategize: 'a revision of the strategy is asked for',
  escalated: 'the plan is escalated to a person',
  failed: 'the plan has failed for good',
} as const;

/** plan.retry.requested: fix the work, and send snapshots of it. */
export function retryData(next: PlanState, verdict: PlanVerdict, limit: number): Data {
  const nth = next.fixes + 1;
  const onFailure = nth < limit ? 'fix' : afterFixes(next);
  const failing = fitting(verdict.failing, FAILING_BYTES);
  return {
    evaluation: verdict.evaluation,
    fix: nth,
    limit,
    reason: words(verdict.reason),
    failing: failing.items,
    failing_total: verdict.failing.length,
    diagnosis: verdict.diagnosis,
    expects: 'plan.fixed',
    deadline: deadlineOf(next),
    next: `Fix what failed and hand in new snapshots (plan.fixed); what failed is judged first, then the rest. If it fails again, ${NEXT[onFailure]}.`,
    next_on_failure: onFailure,
    ...cutBy(failing.cut, verdict.diagnosis.truncated),
  };
}

/** plan.revision.requested: begin anew, with another strategy. */
export function revisionData(
  next: PlanState,
  cause: Cause,
  diagnosis: Diagnosis | null,
  { checks }: Applicable,
): Data {
  const applicable = fitting(checks.map(named), APPLICABLE_BYTES);
  return {
    evaluation: next.lastEvaluation,
    strategy_revision: next.revisions,
    limit: next.policy.revisions,
    ...told(cause),
    diagnosis,
    applicable: applicable.items,
    applicable_total: checks.length,
    expects: 'plan.strategized',
    deadline: deadlineOf(next),
    ...cutBy(applicable.cut, diagnosis?.truncated),
  };
}

/** plan.escalated: a person must answer. */
export function escalatedData(next: PlanState, cause: Cause, diagnosis: Diagnosis | null): Data {
  return {
    evaluation: next.lastEvaluation,
    ...told(cause),
    diagnosis,
    expects: 'plan.responded',
    deadline: deadlineOf(next),
    ...cutBy(diagnosis?.truncated),
  };
}

/** plan.failed: for good. */
export function failedData(next: PlanState, cause: Cause, diagnosis: Diagnosis | null): Data {
  return { evaluation: next.lastEvaluation, ...told(cause), diagnosis, ...cutBy(diagnosis?.truncated) };
}

function digestsOf({ snapshots }: PlanState): { digests: Record<string, string>; cut: boolean } {
  const { items, cut } = fitting(Object.entries(snapshots ?? {}), DIGESTS_BYTES);
  return { digests: Object.fromEntries(items), cut };
}

/** plan.gate.passed: these snapshots may be applied. */
export function gatePassedData(next: PlanState, verdict: PlanVerdict): Data {
  const all = verdict.all.map((check, n) => ({
    attachment_id: checkKey(check),
    validation: check.validation,
    resource: check.resource,
    mode: check.mode,
    outcome: verdict.outcomes[n],
  }));
  const results = fitting(all, RESULTS_BYTES);
  const unvalidated = fitting(verdict.unvalidated, UNVALIDATED_BYTES);
  const { digests, cut } = digestsOf(next);
  return {
    evaluation: verdict.evaluation,
    reason: words(verdict.reason),
    results: results.items,
    results_total: all.length,
    digests,
    vacuous: verdict.vacuous,
    unvalidated: unvalidated.items,
    advisories: all.filter(
      ({ mode, outcome }) => mode === 'informational' && (outcome === 'fail' || outcome === 'error'),
    ).length,
    expects: 'plan.apply.requested',
    ...cutBy(results.cut, cut, unvalidated.cut),
  };
}

/** plan.applied: the snapshots with these digests go into the world. */
export function appliedData(next: PlanState, actor: string): Data {
  const { digests, cut } = digestsOf(next);
  return { evaluation: next.lastEvaluation, actor, digests, ...cutBy(cut) };
}

/** plan.cancelled. */
export function cancelledData(command: Extract<PlanCommand, { type: 'cancel' }>, from: string): Data {
  const { actor, reason } = command;
  return { actor, from, reason: reason === null ? null : words(reason) };
}
