import { isoTime } from '../iso-time.js';
import { planEvaluationId } from '../shards.js';
import type {
  Phase,
  PlanCheck,
  PlanCommand,
  PlanEffect,
  PlanPolicy,
  PlanRefusal,
  PlanState,
  Stage,
  Transition,
} from './model.js';
import type { PlanRowId } from './table.js';

/** A phase that a command of the plan's agent or of a person must end in time. */
type Waiting = keyof PlanPolicy['deadlines'];

const isWaiting = (phase: Phase, { deadlines }: PlanPolicy): phase is Waiting =>
  Object.hasOwn(deadlines, phase);

/** The plan in its next state: one revision on, its gate shut and waiting for nothing unless `change` says so. */
export function enter(state: PlanState, now: number, phase: Phase, change: Partial<PlanState>): PlanState {
  const { policy } = state;
  return {
    ...state,
    awaits: null,
    gate: null,
    ...change,
    phase,
    revision: state.revision + 1,
    deadline: isWaiting(phase, policy) ? now + policy.deadlines[phase] : null,
    updatedAt: now,
  };
}

/** What is to be evaluated. */
export interface Ask {
  stage: Stage;
  checks: PlanCheck[];
  rest: PlanCheck[];
  earlier: string | null;
  unvalidated: string[];
}

/**
 * The plan in `validate`, and the effect that asks for the evaluation that it waits for. Its id holds
 * the time as well: a plan may come to the same revision twice, when its Redis lost a write or its id
 * is used again, and must not meet results of the other evaluation there.
 */
export function validate(
  state: PlanState,
  now: number,
  ask: Ask,
  change: Partial<PlanState>,
): { state: PlanState; effect: PlanEffect } {
  const evaluation = planEvaluationId(state.id, String(state.revision + 1), String(now));
  const awaits = { evaluation, stage: ask.stage };
  const next = enter(state, now, 'validate', { ...change, awaits });
  return { state: next, effect: { type: 'evaluate', evaluation, attempt: next.attempt, ...ask } };
}

/**
 * A transition; a change of phase tells itself first. `said` is what that event says besides. Every
 * event says who moved the plan.
 */
export function taken(
  row: PlanRowId,
  before: Phase | null,
  state: PlanState,
  actor: string,
  effects: PlanEffect[],
  said: Record<string, unknown> = {},
): Transition {
  const told = effects.map((effect) =>
    effect.type === 'emit' ? { ...effect, data: { actor, ...effect.data } } : effect,
  );
  if (before === state.phase) return { ok: true, row, state, effects: told };
  const data = {
    from: before,
    to: state.phase,
    row,
    actor,
    evaluation: state.awaits?.evaluation ?? null,
    deadline: state.deadline === null ? null : isoTime(state.deadline),
    ...said,
  };
  return { ok: true, row, state, effects: [{ type: 'emit', name: 'plan.phase.changed', data }, ...told] };
}

export function refused(row: PlanRowId, code: PlanRefusal['code'], message: string): Transition {
  return { ok: false, row, refusal: { code, message } };
}

/** Where the plan stands, for a refusal. */
export function standing({ phase, revision, awaits }: PlanState): string {
  const waits = awaits === null ? '' : ` and waits for evaluation ${awaits.evaluation}`;
  return `the plan is in phase ${phase} at revision ${revision}${waits}`;
}

export function wrongPhase(
  state: PlanState,
  { type }: PlanCommand,
  row: PlanRowId = 'wrong-phase',
): Transition {
  return refused(row, 'WRONG_PHASE', `${type} is not possible now: ${standing(state)}`);
}
