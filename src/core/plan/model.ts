import type { Gate, ResultCounts } from '../decision.js';
import type { AttachmentScope, JsonObject, Mode } from '../registry/model.js';
import type { Outcome } from '../result.js';

export const PHASES = [
  'strategize',
  'execute',
  'validate',
  'fix',
  'ready',
  'escalated',
  'applied',
  'failed',
  'cancelled',
] as const;
export type Phase = (typeof PHASES)[number];

/** Phases that no command leaves. */
export const TERMINAL_PHASES: ReadonlySet<Phase> = new Set<Phase>(['applied', 'failed', 'cancelled']);

/** Limits and deadlines of a plan; fixed when it is created, so that no process's settings matter. */
export interface PlanPolicy {
  /** Fixes under one strategy (ADR: retry limit, default 3). */
  fixes: number;
  /** Revisions of the strategy, default 3. */
  revisions: number;
  /** Escalations that are answered with a retry, default 1. */
  escalations: number;
  /** Evaluations of the same snapshots after one that failed by errors alone, default 2. */
  errorRetries: number;
  /** A resource without any validation keeps the gate shut. */
  requireValidations: boolean;
  /** A required check passes only where something kept it from writing (DESIGN 6.2); absent: no. */
  requireEnforced?: boolean;
  /** Milliseconds that each waiting phase may last. */
  deadlines: { strategize: number; execute: number; fix: number; escalated: number };
  /** Milliseconds after which an evaluation is decided with what there is. */
  evaluationDeadline: number;
  /** Milliseconds that an ended plan and all its evidence are kept. */
  retention: number;
}

/** `failed_first`: the checks that failed before; `rest`: the others, on the same snapshots. */
export type Stage = 'all' | 'failed_first' | 'rest';

/** One attachment against one snapshot, as a plan's evaluation runs it. */
export interface PlanCheck {
  /** Attachment id. */
  attachment: string;
  resource: string;
  scope: AttachmentScope;
  target: string | null;
  slot: string | null;
  arguments: JsonObject;
  validation: string;
  /** SHA-256 of the resolved validation (itself and all that it wraps): a blob of that digest. */
  version: string;
  mode: Mode;
  retryLimit: number | null;
  confirm: number;
  runner: 'pure' | 'runner';
  /** Digest of the resource's snapshot. */
  subject: string;
}

/** What makes two checks the same check, whatever snapshot they look at. */
export function checkKey(check: Pick<PlanCheck, 'attachment'>): string {
  return check.attachment;
}

/** Part of a chunk's manifest when it evaluates a plan. */
export interface PlanManifest {
  plan: string;
  project: string | null;
  stage: Stage;
  checks: PlanCheck[];
  /** Checks of the second stage; only in `failed_first`. */
  rest: PlanCheck[];
  /** The evaluation whose passed results count as well; only in `rest`. */
  earlier: string | null;
  /** Resources without any validation. */
  unvalidated: string[];
  requireValidations: boolean;
  requireEnforced?: boolean;
}

/** A plan as it stands; changed by compare-and-set on its revision alone. */
export interface PlanState {
  id: string;
  project: string | null;
  /** Names of its resources, sorted. */
  resources: string[];
  phase: Phase;
  /** 1 when created; + 1 with every transition. */
  revision: number;
  /** Fixes under this strategy: f. */
  fixes: number;
  /** Strategy revisions: r. */
  revisions: number;
  /** Escalations answered: e. */
  escalations: number;
  /** Evaluations of these snapshots again, after errors alone. */
  again: number;
  /** The n-th time that it is judged, from 1; 0 before the first. Both stages of a revalidation are one. */
  attempt: number;
  /** Digest of each resource's snapshot; null before there are any. */
  snapshots: Record<string, string> | null;
  /** The evaluation whose decision moves the plan; null when it waits for none. */
  awaits: { evaluation: string; stage: Stage } | null;
  /** The last evaluation that was decided; its results say what the plan is in for. */
  lastEvaluation: string | null;
  /** Keys of the checks that kept the gate shut in the last decision. */
  failing: string[];
  /** What the gate opened on: digest of the set of checks, without snapshots; null while it is shut. */
  gate: string | null;
  /** What a person answered to the last escalation. */
  guidance: string | null;
  policy: PlanPolicy;
  /** Milliseconds since the epoch at which the phase ends by itself; null for never. */
  deadline: number | null;
  createdAt: number;
  updatedAt: number;
}

/** The checks that apply to a plan's resources now. */
export interface Applicable {
  /** Without snapshots (`subject` is '') where the plan has none yet. Sorted as DESIGN 4.6 says. */
  checks: PlanCheck[];
  unvalidated: string[];
}

/** A failed, errored or skipped result, so that an agent can act on the event alone. */
export interface DiagnosisEntry {
  validation: string;
  resource: string;
  attachment_id: string;
  mode: Mode;
  arguments: JsonObject;
  outcome: 'fail' | 'error' | 'skipped';
  message: string;
  data: Record<string, unknown>;
  /** The piece of evidence that the result quotes, where it does. */
  excerpt?: string;
}

/** Why a gate is shut. */
export interface Diagnosis {
  evaluation: string;
  attempt: number;
  failed: DiagnosisEntry[];
  errored: DiagnosisEntry[];
  /** Informational results that failed or errored; they block nothing. */
  advisories: DiagnosisEntry[];
  passed: { validation: string; resource: string }[];
  /** Checks that wait for the second stage. */
  not_run: { validation: string; resource: string }[];
  /** Resources without a validation, where that keeps the gate shut. */
  unvalidated: string[];
  /** Some data was left out, because an event carries 48 KiB at most. */
  truncated: boolean;
}

/** What the plan gate made of an evaluation's results. */
export interface PlanVerdict {
  evaluation: string;
  stage: Stage;
  /** The evaluation of the first stage; only in `rest`. */
  earlier: string | null;
  passed: boolean;
  /** Passed although nothing, or only data that was not there, was judged. */
  vacuous: boolean;
  /** One sentence. */
  reason: string;
  /** No required check failed, but some errored. */
  errorsAlone: boolean;
  /** False when a failed required result says `data.retryable: false`. */
  retryable: boolean;
  /** The smallest `retry.limit` among the failing validations. */
  retryLimit: number | null;
  /** Keys of the required checks that did not pass. */
  failing: string[];
  /** The checks that it judged, and those that it left for the second stage. */
  checks: PlanCheck[];
  rest: PlanCheck[];
  /** Every check of this revalidation, the first stage included: what the gate opens on. */
  all: PlanCheck[];
  /** What became of each of them, in the same order. */
  outcomes: Outcome[];
  unvalidated: string[];
  diagnosis: Diagnosis;
}

/** What a new plan is made of. */
export interface NewPlan {
  id: string;
  project: string | null;
  resources: string[];
  policy: PlanPolicy;
}

type Snapshots = Record<string, string>;

/** An input of the lifecycle (DESIGN 4.7). `applicable` is resolved when the command is taken. */
export type PlanCommand = { now: number; actor: string; applicable: Applicable } & (
  | { type: 'create'; plan: NewPlan }
  | { type: 'submit'; plan: NewPlan; snapshots: Snapshots }
  | { type: 'strategized' }
  | { type: 'executed'; snapshots: Snapshots }
  | { type: 'fix'; snapshots: Snapshots }
  | { type: 'respond'; answer: 'retry' | 'abort'; guidance: string | null }
  | { type: 'apply'; digests: Snapshots }
  | { type: 'cancel'; reason: string | null }
  /** `diagnosis`: of the last evaluation; null when there was none. */
  | { type: 'deadline'; diagnosis: Diagnosis | null }
  | { type: 'decided'; verdict: PlanVerdict }
);
export type PlanCommandType = PlanCommand['type'];

export type PlanEventName =
  | 'plan.gate.passed'
  | 'plan.retry.requested'
  | 'plan.revision.requested'
  | 'plan.escalated'
  | 'plan.failed'
  | 'plan.applied'
  | 'plan.cancelled'
  | 'plan.phase.changed';

/** What follows from a transition; carried out with it (`emit`, `cancel`) or after it (`evaluate`). */
export type PlanEffect =
  | {
      type: 'evaluate';
      evaluation: string;
      attempt: number;
      stage: Stage;
      checks: PlanCheck[];
      rest: PlanCheck[];
      earlier: string | null;
      unvalidated: string[];
    }
  | { type: 'cancel'; evaluation: string }
  | { type: 'emit'; name: PlanEventName; data: Record<string, unknown> };

/** Why a command changes nothing; the current state goes back with it. */
export interface PlanRefusal {
  code: 'PLAN_EXISTS' | 'PLAN_UNKNOWN' | 'WRONG_PHASE' | 'WRONG_DIGEST' | 'WRONG_RESOURCES' | 'STALE';
  message: string;
}

export type Transition =
  | { ok: true; row: string; state: PlanState; effects: PlanEffect[] }
  | { ok: false; row: string; refusal: PlanRefusal };

/** The immutable outcome of a plan's evaluation, as it is stored. */
export interface PlanDecision {
  plan: string;
  stage: Stage;
  passed: boolean;
  /** `errored`: not passed, with at least one error among the required results. */
  status: 'passed' | 'failed' | 'errored' | 'cancelled';
  /** Who asked for the evaluation: gave the command that led to it; null: not known. */
  actor: string | null;
  gate: Gate;
  counts: ResultCounts;
  /** Passed although nothing, or only data that was not there, was judged. */
  vacuous: boolean;
  unvalidated: string[];
  /** SHA-256 of the results as they are stored; empty when cancelled. */
  resultsDigest: string;
  /** Milliseconds since the epoch. */
  decidedAt: number;
}
