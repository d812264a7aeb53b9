import type { Chunk } from '../../src/core/manifest.js';
import type { PlanState } from '../../src/core/plan/model.js';
import type { PlanLogEntry, PlanStep } from '../../src/ports/plans.js';
import type { Store } from '../../src/ports/store.js';
import { chunkOf, event } from './evidence.js';

export const NOW = 1_700_000_000_000;
export const HOUR = 3_600_000;

function stateOf(id: string, revision: number, more: Partial<PlanState> = {}): PlanState {
  return {
    id,
    project: null,
    resources: ['repo/a'],
    phase: 'strategize',
    revision,
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
    policy: {
      fixes: 3,
      revisions: 3,
      escalations: 1,
      errorRetries: 2,
      requireValidations: false,
      deadlines: { strategize: HOUR, execute: HOUR, fix: HOUR, escalated: HOUR },
      evaluationDeadline: HOUR,
      retention: HOUR,
    },
    deadline: null,
    createdAt: NOW,
    updatedAt: NOW + revision,
    ...more,
  };
}

function logOf(state: PlanState, more: Partial<PlanLogEntry> = {}): PlanLogEntry {
  return {
    revision: state.revision,
    at: NOW,
    actor: 'anna',
    command: 'test',
    row: 'r1',
    from: null,
    to: state.phase,
    attempt: state.attempt,
    decided: null,
    evaluation: null,
    note: 'ü',
    ...more,
  };
}

/** A chunk with one evaluation of a plan, whose id is `<name>-0`. */
const evaluationOf = (plan: string, name: string): Chunk =>
  chunkOf('', name, 1, {
    plan: {
      plan,
      project: null,
      stage: 'all',
      checks: [],
      rest: [],
      earlier: null,
      unvalidated: [],
      requireValidations: false,
    },
  });

export const acceptOf = (plan: string, name: string, checkAt = NOW): NonNullable<PlanStep['accept']> => ({
  chunk: evaluationOf(plan, name),
  blobs: [{ digest: `evidence of ${name}`, content: `content of ${name}` }],
  checkAt,
});

export const decisionOf = (chunk: string, stage = 's'): NonNullable<PlanStep['decision']> => ({
  chunk,
  json: JSON.stringify({ decided: chunk, stage }),
  results: { stage, json: `results ${stage}` },
});

export const cancelledOf = (chunk: string): NonNullable<PlanStep['decision']> => ({
  ...decisionOf(chunk, 'cancelled'),
  results: null,
});

export interface StepOptions extends Partial<Omit<PlanStep, 'command' | 'next'>> {
  command?: string;
  /** What differs from a plan in `strategize`; null: the plan does not move. */
  to?: Partial<PlanState> | null;
  log?: Partial<PlanLogEntry>;
}

/** The step of plan `p` from `expected` to the next revision. */
export function stepOf(
  expected: number,
  { command, to = {}, log = {}, ...more }: StepOptions = {},
): PlanStep {
  const plan = more.plan ?? 'p';
  const state = stateOf(plan, expected + 1, to ?? {});
  return {
    plan,
    expected,
    now: NOW,
    command: command === undefined ? null : { id: command, digest: `digest of ${command}` },
    next: to === null ? null : { state, log: logOf(state, log) },
    decision: null,
    accept: null,
    events: [event(`${plan}-${expected + 1}`)],
    retentionMs: HOUR,
    ...more,
  };
}

/** Everything that can be seen of plans and their evaluations. */
export async function seen(store: Store, plans: readonly string[], evaluations: readonly string[]) {
  const { evaluations: chunks } = store;
  return {
    states: await Promise.all(plans.map((id) => store.plans.plan(id))),
    logs: await Promise.all(plans.map((id) => store.plans.log(id))),
    lists: await Promise.all(
      [
        { limit: 100 },
        { limit: 2 },
        { phase: 'validate' as const, limit: 100 },
        { project: 'web', limit: 1 },
      ].map((filter) => store.plans.plans(filter)),
    ),
    due: await store.plans.due(NOW + HOUR, 100),
    chunks: await chunks.chunks(evaluations),
    places: await chunks.locate(evaluations),
    recorded: await Promise.all(evaluations.map((id) => chunks.recorded(id))),
    decisions: await Promise.all(evaluations.map((id) => chunks.decisions(id))),
    dueChunks: await chunks.dueChunks(NOW + HOUR, 100),
    events: (await store.outbox.events('', 1000, 0)).map(({ event: e }) => e.id),
  };
}
