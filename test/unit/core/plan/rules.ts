import type { Chunk } from '../../../../src/core/manifest.js';
import {
  checkKey,
  type PlanCheck,
  type PlanCommand,
  type PlanState,
  TERMINAL_PHASES,
} from '../../../../src/core/plan/model.js';
import type { CheckResult } from '../../../../src/core/result.js';

/** What one evaluation was about, and what came of it. */
export interface Judged {
  chunk: Chunk;
  passed: boolean;
  results: CheckResult[];
}

/** Breaks off with the rule that was broken. */
export function must(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new Error(rule);
}

/** The rules that hold after every transition, whatever led to it; `judged` by evaluation, in order. */
export function holdRules(
  before: PlanState | undefined,
  state: PlanState,
  command: PlanCommand,
  judged: ReadonlyMap<string, Judged>,
): void {
  const { policy, phase } = state;
  must(state.revision === (before?.revision ?? 0) + 1, 'every transition raises the revision by one');
  must(state.fixes <= policy.fixes, 'fixes stay within their limit');
  must(state.revisions <= policy.revisions, 'revisions stay within their limit');
  must(state.escalations <= policy.escalations, 'escalations stay within their limit');
  must(state.again <= policy.errorRetries, 'errors alone are judged again so often and no more');
  must(before === undefined || !TERMINAL_PHASES.has(before.phase), 'no command leaves an end');
  must(before === undefined || state.attempt >= before.attempt, 'attempts only grow');
  must((state.gate !== null) === (phase === 'ready' || phase === 'applied'), 'a gate is open or shut');
  must((state.awaits !== null) === (phase === 'validate'), 'only a plan that validates waits');
  must((state.deadline !== null) === Object.hasOwn(policy.deadlines, phase), 'what waits has a deadline');
  if (phase === 'ready') holdOpen(state, command, judged);
  if (phase === 'applied') holdApplied(before, state, command, judged);
}

/** Whether the check, in this version and on the plan's snapshot, passed in one of these evaluations. */
function passedIn(
  one: PlanCheck,
  { snapshots }: PlanState,
  evaluations: readonly (Judged | undefined)[],
): boolean {
  return evaluations.some((judged) =>
    judged?.chunk.plan?.checks.some(
      (each, at) =>
        checkKey(each) === checkKey(one) &&
        each.version === one.version &&
        each.subject === snapshots?.[one.resource] &&
        judged.results[at]?.outcome === 'pass',
    ),
  );
}

/** The evaluation and, where it judged but the rest, the one before it. */
function bothStages(id: string | null, judged: ReadonlyMap<string, Judged>): (Judged | undefined)[] {
  const last = judged.get(id ?? '');
  return [last, judged.get(last?.chunk.plan?.earlier ?? '')];
}

/** The gate opens on passes of every required check, in one revalidation, on the snapshots that stand. */
function holdOpen(state: PlanState, command: PlanCommand, judged: ReadonlyMap<string, Judged>): void {
  must(command.type === 'decided', 'only a decision opens the gate');
  const { all, unvalidated, evaluation } = command.verdict;
  const stages = bothStages(evaluation, judged);
  must(
    all.every((one) => one.mode !== 'required' || passedIn(one, state, stages)),
    'every required check passed on the snapshots of the plan',
  );
  must(!state.policy.requireValidations || unvalidated.length === 0, 'no resource is without a validation');
}

/** What is applied was validated, by all that applies now. */
function holdApplied(
  before: PlanState | undefined,
  state: PlanState,
  command: PlanCommand,
  judged: ReadonlyMap<string, Judged>,
): void {
  must(command.type === 'apply' && before?.phase === 'ready', 'only a ready plan is applied');
  const stages = bothStages(state.lastEvaluation, judged);
  must(
    command.applicable.checks.every((one) => one.mode !== 'required' || passedIn(one, state, stages)),
    'what applies now passed on what is applied',
  );
  must(
    state.resources.every((name) => command.digests[name] === state.snapshots?.[name]),
    'only what was validated is applied',
  );
}
