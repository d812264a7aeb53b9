import type { EventOptions } from '../evaluation-events.js';
import { type EventName, eventId, makeEvent, type OutboxEvent } from '../events.js';
import type { Chunk } from '../manifest.js';
import type { CheckResult, Result } from '../result.js';
import { talliesOf } from './event-data.js';
import { clipped, fits, fitting } from './fit.js';
import { materializePlan } from './manifest.js';
import type { PlanDecision, PlanEffect, PlanManifest, PlanState } from './model.js';

/** Bytes that a list, or the data of a result, may take in the events of an evaluation. */
const LIST_BYTES = 32 * 1024;
/** UTF-16 units of a result's message among others, and alone. */
const BRIEF_MESSAGE = 500;
const MESSAGE = 8000;

export { planEvaluationData, planEventData } from './event-schemas.js';

const evidence = (evaluation: string) => `/v1/evaluations/${evaluation}`;

/** What every event of a plan says of it. */
function about(state: PlanState): Record<string, unknown> {
  return {
    plan: state.id,
    project: state.project,
    revision: state.revision,
    phase: state.phase,
    attempt: state.attempt,
    ...talliesOf(state),
  };
}

/**
 * The event that a transition emits, `state` being the plan after it; `now` in milliseconds.
 * `causation` is the id of the event that led to it. Where something was left out to stay below
 * 48 KiB, `dataref` names where it lies (DESIGN 7).
 */
export function planEvent(
  fleet: string,
  state: PlanState,
  effect: Extract<PlanEffect, { type: 'emit' }>,
  now: number,
  causation?: string,
): OutboxEvent {
  const { name, data } = effect;
  const cut = data.truncated === true && state.lastEvaluation !== null;
  return makeEvent({
    fleet,
    name,
    subject: state.id,
    // With the time: the same revision may come twice, after a lost write or under an id that is used again.
    revision: `${state.revision}@${state.updatedAt}`,
    sequence: state.revision,
    correlation: state.id,
    ...(causation === undefined ? {} : { causation }),
    ...(cut ? { dataref: evidence(state.lastEvaluation ?? '') } : {}),
    time: now,
    data: { ...about(state), ...data },
  });
}

/** What every event of a plan's evaluation says of it. */
export function aboutEvaluation(chunk: Chunk, plan: PlanManifest): Record<string, unknown> {
  return {
    evaluation: chunk.id,
    plan: plan.plan,
    project: plan.project,
    stage: plan.stage,
    earlier: plan.earlier,
    subject_digest: chunk.evaluations[0]?.subject ?? '',
    attempt: chunk.attempt,
  };
}

function planOf(chunk: Chunk): PlanManifest {
  if (chunk.plan === undefined) throw new Error(`chunk ${chunk.id} evaluates no plan`);
  return chunk.plan;
}

/** evaluation.accepted of a plan's evaluation: the manifest is stored; a decision will follow. */
export function planAcceptedEvent(fleet: string, chunk: Chunk): OutboxEvent {
  const plan = planOf(chunk);
  return makeEvent({
    fleet,
    name: 'evaluation.accepted',
    subject: chunk.id,
    revision: String(chunk.attempt),
    sequence: 1,
    correlation: plan.plan,
    time: chunk.acceptedAt,
    data: { ...aboutEvaluation(chunk, plan), actor: chunk.actor ?? null, checks: plan.checks.length },
  });
}

const brief = ({ validation, attachment_id, attachment_resource, mode, outcome, message }: Result) => ({
  validation,
  attachment_id,
  resource: attachment_resource,
  mode,
  outcome,
  message: clipped(message, BRIEF_MESSAGE),
});

/** advisory.raised: what blocks nothing and should be seen all the same; undefined where there is nothing. */
function advisoryData(
  plan: PlanManifest,
  { passed }: PlanDecision,
  failing: readonly Result[],
): Record<string, unknown> | undefined {
  const advisories = failing.filter(({ mode }) => mode === 'informational');
  const opened = passed && plan.stage !== 'failed_first';
  const unvalidated = opened ? plan.unvalidated : [];
  if (advisories.length === 0 && unvalidated.length === 0) return undefined;
  const listed = fitting(advisories.map(brief), LIST_BYTES);
  const without = fitting(unvalidated, LIST_BYTES / 4);
  return {
    advisories: listed.items,
    total: advisories.length,
    unvalidated: without.items,
    truncated: listed.cut || without.cut,
  };
}

/** validation.failed or validation.errored: one result, without its data where that is too much for an event. */
function checkData(result: Result): Record<string, unknown> {
  const whole = fits(result.data, LIST_BYTES);
  return {
    ...brief(result),
    message: clipped(result.message, MESSAGE),
    data: whole ? result.data : {},
    truncated: !whole || result.message.length > MESSAGE,
  };
}

/** evaluation.passed or evaluation.failed. */
function decidedData({ actor }: Chunk, plan: PlanManifest, decision: PlanDecision): Record<string, unknown> {
  const unvalidated = fitting(plan.unvalidated, LIST_BYTES);
  return {
    actor: actor ?? null,
    decision: decision.status,
    gates: { plan: { ...decision.gate, reason: clipped(decision.gate.reason, MESSAGE) } },
    counts: decision.counts,
    vacuous: decision.vacuous,
    unvalidated: unvalidated.items,
    results_digest: decision.resultsDigest,
    truncated: unvalidated.cut,
  };
}

/**
 * The events of one decision about a plan's evaluation: advisories, each check that did not pass
 * where that is wanted, and last passed or failed. `results` are settled, in the manifest's order;
 * a cancelled evaluation has none.
 */
export function planDecisionEvents(
  fleet: string,
  chunk: Chunk,
  decision: PlanDecision,
  results: readonly CheckResult[],
  options: EventOptions,
): OutboxEvent[] {
  const plan = planOf(chunk);
  const base = aboutEvaluation(chunk, plan);
  const attempt = String(chunk.attempt);
  const causation = eventId(chunk.id, attempt, 'evaluation.accepted');
  const event = (name: EventName, revision: string, sequence: number, data: Record<string, unknown>) =>
    makeEvent({
      fleet,
      name,
      subject: chunk.id,
      revision,
      sequence,
      correlation: plan.plan,
      causation,
      ...(data.truncated === true ? { dataref: evidence(chunk.id) } : {}),
      time: decision.decidedAt,
      data: { ...base, ...data },
    });
  const events: OutboxEvent[] = [];
  const failing =
    decision.status === 'cancelled'
      ? []
      : materializePlan(chunk, results).filter(({ outcome }) => outcome === 'fail' || outcome === 'error');
  const advisory = advisoryData(plan, decision, failing);
  if (advisory !== undefined) events.push(event('advisory.raised', attempt, 2, advisory));
  for (const result of options.perCheck ? failing : []) {
    const name = result.outcome === 'fail' ? 'validation.failed' : 'validation.errored';
    events.push(event(name, `${attempt}/${result.attachment_id}`, 2, checkData(result)));
  }
  const name = decision.passed ? 'evaluation.passed' : 'evaluation.failed';
  events.push(event(name, attempt, 3, decidedData(chunk, plan, decision)));
  return events;
}
