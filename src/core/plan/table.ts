import { PHASES, type Phase, type PlanEventName, TERMINAL_PHASES } from './model.js';

/** One row of the lifecycle (DESIGN 4.7). */
export interface PlanRow {
  /** Stable word that the plan's history names the row by. */
  id: string;
  /** Phases that it holds in; null: there is no such plan yet. */
  from: readonly (Phase | null)[];
  /** The command, or several of them, separated by commas. */
  input: string;
  /** The next phase; null when the command is refused and nothing changes. */
  to: Phase | null;
  /** What is emitted, in this order. */
  events: readonly PlanEventName[];
  /** Under which condition; empty for always. */
  when: string;
}

const CHANGED = 'plan.phase.changed';

/** A change of phase tells itself; `event` is what it means besides. */
function row<const Id extends string>(
  id: Id,
  from: readonly (Phase | null)[],
  input: string,
  to: Phase | null,
  when: string,
  event?: PlanEventName,
): PlanRow & { id: Id } {
  const moves = to !== null && !from.includes(to);
  const events: PlanEventName[] = moves ? [CHANGED] : [];
  return { id, from, input, to, events: event === undefined ? events : [...events, event], when };
}

const LIVE = PHASES.filter((phase) => !TERMINAL_PHASES.has(phase));

const ROWS = [
  row('create', [null], 'create', 'strategize', 'the plan is new'),
  row('submit', [null], 'submit', 'validate', 'the plan is new, and its phases so far were not tracked'),
  row('strategized', ['strategize'], 'strategized', 'execute', ''),
  row('executed', ['execute'], 'executed', 'validate', ''),
  row(
    'passed',
    ['validate'],
    'decided',
    'ready',
    'all checks judged on one set of snapshots, and every required one passed',
    'plan.gate.passed',
  ),
  row(
    'passed-first',
    ['validate'],
    'decided',
    'validate',
    'the checks that had failed pass, and the others are judged next',
  ),
  row(
    'errored',
    ['validate'],
    'decided',
    'validate',
    'shut by errors alone, and the same checks may be judged again',
  ),
  row('failed-fix', ['validate'], 'decided', 'fix', 'failed, and fixes are left', 'plan.retry.requested'),
  row(
    'failed-revise',
    ['validate'],
    'decided',
    'strategize',
    'failed, fixes used up or of no use, and revisions are left',
    'plan.revision.requested',
  ),
  row(
    'failed-escalate',
    ['validate'],
    'decided',
    'escalated',
    'failed, fixes and revisions used up, and an escalation is left',
    'plan.escalated',
  ),
  row('failed-end', ['validate'], 'decided', 'failed', 'failed, and all is used up', 'plan.failed'),
  row('fix', ['fix'], 'fix', 'validate', 'the checks that failed are judged first'),
  row(
    'fix-late-revise',
    ['fix'],
    'deadline',
    'strategize',
    'no fix came in time, and revisions are left',
    'plan.revision.requested',
  ),
  row(
    'fix-late-escalate',
    ['fix'],
    'deadline',
    'escalated',
    'no fix came in time, revisions used up, and an escalation is left',
    'plan.escalated',
  ),
  row(
    'fix-late-end',
    ['fix'],
    'deadline',
    'failed',
    'no fix came in time, and all is used up',
    'plan.failed',
  ),
  row(
    'late-escalate',
    ['strategize', 'execute'],
    'deadline',
    'escalated',
    'nothing came in time, and an escalation is left',
    'plan.escalated',
  ),
  row(
    'late-end',
    ['strategize', 'execute'],
    'deadline',
    'failed',
    'nothing came in time, and escalations are used up',
    'plan.failed',
  ),
  row('respond-retry', ['escalated'], 'respond', 'strategize', 'the answer is retry'),
  row('respond-abort', ['escalated'], 'respond', 'failed', 'the answer is abort', 'plan.failed'),
  row('respond-late', ['escalated'], 'deadline', 'failed', 'no answer came in time', 'plan.failed'),
  row(
    'apply',
    ['ready'],
    'apply',
    'applied',
    'the digests are the validated ones, and the attachments are those that the gate opened on',
    'plan.applied',
  ),
  row(
    'apply-changed',
    ['ready'],
    'apply',
    'validate',
    'the attachments have changed since the gate opened, and all checks are judged again',
  ),
  row('ready-again', ['ready'], 'executed, fix', 'validate', 'new snapshots, and all checks are judged'),
  row(
    'cancel',
    LIVE,
    'cancel',
    'cancelled',
    'the plan is live, and an evaluation that it waits for is decided as cancelled',
    'plan.cancelled',
  ),
  row('busy', ['validate'], 'executed, fix', null, 'snapshots are being validated (WRONG_PHASE)'),
  row('wrong-digest', ['ready'], 'apply', null, 'a digest is not the validated one (WRONG_DIGEST)'),
  row(
    'wrong-resources',
    [null, 'execute', 'fix', 'ready'],
    'submit, executed, fix',
    null,
    'the snapshots are not of exactly the resources of the plan (WRONG_RESOURCES)',
  ),
  row(
    'early',
    ['strategize', 'execute', 'fix', 'escalated'],
    'deadline',
    null,
    'the deadline has not come (STALE)',
  ),
  row('stale', PHASES, 'decided', null, 'the plan does not wait for this evaluation (STALE)'),
  row('exists', PHASES, 'create, submit', null, 'there is a plan of this id (PLAN_EXISTS)'),
  row('unknown', [null], 'any other', null, 'there is no plan of this id (PLAN_UNKNOWN)'),
  row('wrong-phase', PHASES, 'any other', null, 'the phase has no row for the command (WRONG_PHASE)'),
];

/** Every row of the lifecycle; a command takes exactly one of them (DESIGN 4.7). */
export const PLAN_ROWS: readonly PlanRow[] = ROWS;
export type PlanRowId = (typeof ROWS)[number]['id'];

/** The rows that change a plan, by their names, as a Mermaid state diagram. */
export function planDiagram(): string {
  const edges = PLAN_ROWS.flatMap(({ id, from, to }) =>
    to === null ? [] : from.map((phase) => `    ${phase ?? '[*]'} --> ${to}: ${id}`),
  );
  const ends = [...TERMINAL_PHASES].map((phase) => `    ${phase} --> [*]`);
  return ['stateDiagram-v2', ...edges, ...ends].join('\n');
}
