import type { Cause } from './event-data.js';
import {
  afterFixes,
  escalatedData,
  failedData,
  gatePassedData,
  retryData,
  revisionData,
} from './event-data.js';
import { gateDigest } from './gate.js';
import type {
  Applicable,
  Diagnosis,
  PlanCommand,
  PlanEffect,
  PlanEventName,
  PlanState,
  PlanVerdict,
  Transition,
} from './model.js';
import { enter, refused, standing, taken, validate } from './moves.js';
import type { PlanRowId } from './table.js';

/** What every step down the ladder needs to know. */
interface Step {
  state: PlanState;
  now: number;
  actor: string;
  applicable: Applicable;
  /** What the decision changed, whatever phase comes next. */
  change: Partial<PlanState>;
  diagnosis: Diagnosis | null;
}

interface Rows {
  escalate: PlanRowId;
  end: PlanRowId;
}

const emit = (name: PlanEventName, data: Record<string, unknown>): PlanEffect => ({
  type: 'emit',
  name,
  data,
});

/** To a person, as long as an escalation is left; else to the end. */
export function escalate(step: Step, cause: Cause, rows: Rows): Transition {
  const { state, now, actor, change, diagnosis } = step;
  if (state.escalations < state.policy.escalations) {
    const next = enter(state, now, 'escalated', change);
    const effects = [emit('plan.escalated', escalatedData(next, cause, diagnosis))];
    return taken(rows.escalate, state.phase, next, actor, effects);
  }
  const used = `escalations are used up (${state.escalations} of ${state.policy.escalations})`;
  return end(step, worse(cause, 'escalations_used_up', used), rows.end);
}

/** To the terminal failure. */
export function end(step: Step, cause: Cause, row: PlanRowId): Transition {
  const { state, now, actor, change, diagnosis } = step;
  const next = enter(state, now, 'failed', change);
  return taken(row, state.phase, next, actor, [emit('plan.failed', failedData(next, cause, diagnosis))]);
}

/** Fixes are over: to another strategy, to a person, or to the end (ADR, Required Validation Failure Handling). */
export function revise(step: Step, cause: Cause, rows: Rows & { revise: PlanRowId }): Transition {
  const { state, now, actor, applicable, change, diagnosis } = step;
  if (afterFixes(state) !== 'strategize') {
    const used = `revisions of the strategy are used up (${state.revisions} of ${state.policy.revisions})`;
    return escalate(step, worse(cause, 'revisions_used_up', used), rows);
  }
  const counters = { fixes: 0, revisions: state.revisions + 1 };
  const next = enter(state, now, 'strategize', { ...change, ...counters });
  const effects = [emit('plan.revision.requested', revisionData(next, cause, diagnosis, applicable))];
  return taken(rows.revise, state.phase, next, actor, effects);
}

const worse = ({ message }: Cause, reason: string, what: string): Cause => ({
  reason,
  message: `${message}; ${what}`,
});

/** What a decision makes of the plan that waits for it (DESIGN 4.7); another one is refused. */
export function decided(state: PlanState, command: Extract<PlanCommand, { type: 'decided' }>): Transition {
  const { verdict, now, actor, applicable } = command;
  if (state.awaits?.evaluation !== verdict.evaluation)
    return refused('stale', 'STALE', `evaluation ${verdict.evaluation} is not awaited: ${standing(state)}`);
  const change = { lastEvaluation: verdict.evaluation, failing: verdict.failing };
  if (verdict.passed) return passed(state, verdict, now, actor);
  if (verdict.errorsAlone && state.again < state.policy.errorRetries) {
    const { stage, checks, rest, earlier, unvalidated } = verdict;
    const counters = { again: state.again + 1, attempt: state.attempt + 1 };
    const asked = validate(
      state,
      now,
      { stage, checks, rest, earlier, unvalidated },
      { ...change, ...counters },
    );
    return taken('errored', state.phase, asked.state, actor, [asked.effect]);
  }
  return failed({ state, now, actor, applicable, change, diagnosis: verdict.diagnosis }, verdict);
}

function passed(state: PlanState, verdict: PlanVerdict, now: number, actor: string): Transition {
  const change = { lastEvaluation: verdict.evaluation, failing: [] };
  if (verdict.rest.length > 0) {
    const { rest: checks, evaluation: earlier, unvalidated } = verdict;
    const asked = validate(state, now, { stage: 'rest', checks, rest: [], earlier, unvalidated }, change);
    return taken('passed-first', state.phase, asked.state, actor, [asked.effect]);
  }
  const next = enter(state, now, 'ready', { ...change, gate: gateDigest(verdict.all) });
  return taken('passed', state.phase, next, actor, [emit('plan.gate.passed', gatePassedData(next, verdict))]);
}

function failed(step: Step, verdict: PlanVerdict): Transition {
  const { state, now, actor, change } = step;
  const limit = Math.min(state.policy.fixes, verdict.retryLimit ?? Number.POSITIVE_INFINITY);
  if (verdict.retryable && state.fixes < limit) {
    const next = enter(state, now, 'fix', change);
    const effects = [emit('plan.retry.requested', retryData(next, verdict, limit))];
    return taken('failed-fix', state.phase, next, actor, effects);
  }
  const rows = { revise: 'failed-revise', escalate: 'failed-escalate', end: 'failed-end' } as const;
  return revise(step, fixless(state, verdict, limit), rows);
}

/** Why no fix is asked for. */
function fixless({ fixes }: PlanState, { retryable, reason }: PlanVerdict, limit: number): Cause {
  const { reason: word, message } = retryable
    ? { reason: 'fixes_used_up', message: `fixes under this strategy are used up (${fixes} of ${limit})` }
    : { reason: 'not_retryable', message: 'a result says that no fix can help (retryable: false)' };
  return { reason: word, message: `${reason}; ${message}` };
}
