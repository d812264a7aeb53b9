import { listed } from '../listed.js';
import { appliedData, cancelledData, words } from './event-data.js';
import { decided, end, escalate, revise } from './failure.js';
import { gateDigest } from './gate.js';
import {
  type Applicable,
  checkKey,
  type NewPlan,
  type PlanCheck,
  type PlanCommand,
  type PlanCommandType,
  type PlanEffect,
  type PlanState,
  TERMINAL_PHASES,
  type Transition,
} from './model.js';
import { type Ask, enter, refused, standing, taken, validate, wrongPhase } from './moves.js';

type Snapshots = Record<string, string>;

/** The first few of the resources that a refusal is about. */
const some = (all: readonly string[], between: string): string =>
  listed(all, String, { most: 5, between, last: between });
type Of<T extends PlanCommandType> = Extract<PlanCommand, { type: T }>;

/**
 * The lifecycle of plans (DESIGN 4.7): what a command makes of a plan, `undefined` being a plan that
 * there is not yet. The limits are the plan's own policy. Pure: the same state and command give the
 * same transition, neither is changed, and time is the command's `now` in milliseconds. Never throws;
 * a command that has no place in the current phase is refused and changes nothing.
 */
export function transition(state: PlanState | undefined, command: PlanCommand): Transition {
  if (command.type === 'create' || command.type === 'submit')
    return state === undefined
      ? begin(command)
      : refused('exists', 'PLAN_EXISTS', `there is such a plan: ${standing(state)}`);
  if (state === undefined) return refused('unknown', 'PLAN_UNKNOWN', 'there is no such plan');
  switch (command.type) {
    case 'strategized':
      return strategized(state, command);
    case 'executed':
    case 'fix':
      return snapped(state, command);
    case 'respond':
      return respond(state, command);
    case 'apply':
      return apply(state, command);
    case 'cancel':
      return cancel(state, command);
    case 'deadline':
      return deadline(state, command);
    case 'decided':
      return decided(state, command);
  }
}

function born({ id, project, resources, policy }: NewPlan, now: number): PlanState {
  return {
    id,
    project,
    resources: [...new Set(resources)].sort(),
    phase: 'strategize',
    revision: 0,
    fixes: 0,
    revisions: 0,
    escalations: 0,
    again: 0,
    attempt: 0,
    snapshots: null,
    awaits: null,
    lastEvaluation: null,
    failing: [],
    gate: null,
    guidance: null,
    policy,
    deadline: null,
    createdAt: now,
    updatedAt: now,
  };
}

function begin(command: Of<'create'> | Of<'submit'>): Transition {
  const { plan, now, actor, applicable } = command;
  const state = born(plan, now);
  if (command.type === 'create') return taken('create', null, enter(state, now, 'strategize', {}), actor, []);
  const wrong = wrongResources(state, command.snapshots);
  if (wrong !== undefined) return refused('wrong-resources', 'WRONG_RESOURCES', wrong);
  const asked = judgeAll(state, now, applicable, command.snapshots);
  return taken('submit', null, asked.state, actor, [asked.effect]);
}

/** Which names differ; undefined when the snapshots are of exactly the plan's resources. */
function wrongResources({ resources }: PlanState, snapshots: Snapshots): string | undefined {
  const missing = resources.filter((name) => !Object.hasOwn(snapshots, name));
  const foreign = Object.keys(snapshots).filter((name) => !resources.includes(name));
  const parts: string[] = [];
  if (missing.length > 0) parts.push(`missing: ${some(missing, ', ')}`);
  if (foreign.length > 0) parts.push(`not a resource of the plan: ${some(foreign, ', ')}`);
  return parts.length === 0 ? undefined : `each resource of the plan takes one snapshot; ${parts.join('; ')}`;
}

const onSnapshots = (checks: readonly PlanCheck[], snapshots: Snapshots): PlanCheck[] =>
  checks.map((check) => ({ ...check, subject: snapshots[check.resource] ?? '' }));

const wholeOf = ({ checks, unvalidated }: Applicable, snapshots: Snapshots): Ask => ({
  stage: 'all',
  checks: onSnapshots(checks, snapshots),
  rest: [],
  earlier: null,
  unvalidated,
});

/** What failed before comes first; everything at once where that is nothing, or everything. */
function failedFirst(state: PlanState, applicable: Applicable, snapshots: Snapshots): Ask {
  const whole = wholeOf(applicable, snapshots);
  const failing = new Set(state.failing);
  const checks = whole.checks.filter((check) => failing.has(checkKey(check)));
  const rest = whole.checks.filter((check) => !failing.has(checkKey(check)));
  if (checks.length === 0 || rest.length === 0) return whole;
  return { ...whole, stage: 'failed_first', checks, rest };
}

const anew = (state: PlanState, snapshots: Snapshots): Partial<PlanState> => ({
  snapshots,
  again: 0,
  attempt: state.attempt + 1,
});

function judgeAll(state: PlanState, now: number, applicable: Applicable, snapshots: Snapshots) {
  return validate(state, now, wholeOf(applicable, snapshots), anew(state, snapshots));
}

function strategized(state: PlanState, command: Of<'strategized'>): Transition {
  const { now, actor } = command;
  if (state.phase !== 'strategize') return wrongPhase(state, command);
  return taken('strategized', 'strategize', enter(state, now, 'execute', {}), actor, []);
}

/** Commands that bring snapshots. */
function snapped(state: PlanState, command: Of<'executed'> | Of<'fix'>): Transition {
  const { type, now, actor, applicable, snapshots } = command;
  const { phase } = state;
  if (phase === 'validate') return wrongPhase(state, command, 'busy');
  const row = phase === 'ready' ? 'ready-again' : type;
  const home = type === 'fix' ? 'fix' : 'execute';
  if (phase !== 'ready' && phase !== home) return wrongPhase(state, command);
  const wrong = wrongResources(state, snapshots);
  if (wrong !== undefined) return refused('wrong-resources', 'WRONG_RESOURCES', wrong);
  if (phase !== 'fix') {
    const asked = judgeAll(state, now, applicable, snapshots);
    return taken(row, phase, asked.state, actor, [asked.effect]);
  }
  const change = { ...anew(state, snapshots), fixes: state.fixes + 1 };
  const asked = validate(state, now, failedFirst(state, applicable, snapshots), change);
  return taken(row, phase, asked.state, actor, [asked.effect]);
}

function respond(state: PlanState, command: Of<'respond'>): Transition {
  const { now, actor, answer, guidance, applicable } = command;
  if (state.phase !== 'escalated') return wrongPhase(state, command);
  if (answer === 'retry') {
    const change = { guidance, fixes: 0, escalations: state.escalations + 1 };
    const next = enter(state, now, 'strategize', change);
    return taken('respond-retry', 'escalated', next, actor, [], {
      guidance: guidance === null ? null : words(guidance),
    });
  }
  const message = `${actor} answered abort${guidance === null ? '' : `: ${guidance}`}`;
  const step = { state, now, actor, applicable, change: { guidance }, diagnosis: null };
  return end(step, { reason: 'aborted', message }, 'respond-abort');
}

/** Which digest is not the validated one; undefined when all are, and nothing else is named. */
function wrongDigest(state: PlanState, digests: Snapshots): string | undefined {
  const names = wrongResources(state, digests);
  if (names !== undefined) return names;
  const validated = state.snapshots ?? {};
  const differing = state.resources.filter((name) => digests[name] !== validated[name]);
  if (differing.length === 0) return undefined;
  const each = differing.map((name) => `${name} has ${digests[name]}, validated was ${validated[name]}`);
  return `only what was validated is applied; ${some(each, '; ')}`;
}

function apply(state: PlanState, command: Of<'apply'>): Transition {
  const { now, actor, applicable, digests } = command;
  if (state.phase !== 'ready' || state.snapshots === null) return wrongPhase(state, command);
  const wrong = wrongDigest(state, digests);
  if (wrong !== undefined) return refused('wrong-digest', 'WRONG_DIGEST', wrong);
  if (gateDigest(applicable.checks) !== state.gate) {
    const asked = judgeAll(state, now, applicable, state.snapshots);
    return taken('apply-changed', 'ready', asked.state, actor, [asked.effect]);
  }
  const next = enter(state, now, 'applied', { gate: state.gate });
  const effect: PlanEffect = { type: 'emit', name: 'plan.applied', data: appliedData(next, actor) };
  return taken('apply', 'ready', next, actor, [effect]);
}

function cancel(state: PlanState, command: Of<'cancel'>): Transition {
  if (TERMINAL_PHASES.has(state.phase)) return wrongPhase(state, command);
  const next = enter(state, command.now, 'cancelled', {});
  const data = cancelledData(command, state.phase);
  const effects: PlanEffect[] = [{ type: 'emit', name: 'plan.cancelled', data }];
  if (state.awaits !== null) effects.push({ type: 'cancel', evaluation: state.awaits.evaluation });
  return taken('cancel', state.phase, next, command.actor, effects);
}

function deadline(state: PlanState, command: Of<'deadline'>): Transition {
  const { now, actor, applicable, diagnosis } = command;
  const { phase } = state;
  if (state.deadline === null) return wrongPhase(state, command);
  if (now < state.deadline) return refused('early', 'STALE', `the deadline has not come: ${standing(state)}`);
  const step = { state, now, actor, applicable, change: {}, diagnosis };
  switch (phase) {
    case 'fix': {
      const cause = { reason: 'fix_deadline', message: 'no fix came before the deadline' };
      const rows = { revise: 'fix-late-revise', escalate: 'fix-late-escalate', end: 'fix-late-end' } as const;
      return revise(step, cause, rows);
    }
    case 'strategize':
    case 'execute': {
      const message = `${phase === 'execute' ? 'executed' : 'strategized'} did not come before the deadline`;
      const rows = { escalate: 'late-escalate', end: 'late-end' } as const;
      return escalate(step, { reason: `${phase}_deadline`, message }, rows);
    }
    case 'escalated': {
      const cause = { reason: 'escalation_deadline', message: 'nobody answered before the deadline' };
      return end(step, cause, 'respond-late');
    }
    default:
      return wrongPhase(state, command);
  }
}
