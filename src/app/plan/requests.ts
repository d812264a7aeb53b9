import type { Applicable, PlanDecision, PlanState, Stage } from '../../core/plan/model.js';
import type { JsonObject } from '../../core/registry/model.js';
import type { Need } from '../../core/registry/needs.js';
import type { Result } from '../../core/result.js';
import type { PlanLogEntry } from '../../ports/plans.js';

/** A snapshot of each resource, by the resource's name: any JSON. */
export type SnapshotsGiven = Record<string, unknown>;

/** Who asks, and how it is made sure that it is done once. */
export interface CommandContext {
  actor: string;
  /** The same id again is the same command; default: a new one. */
  command?: string;
  /** Refused as stale when another revision stands. */
  revision?: number;
}

/** What is asked of a plan (DESIGN 4.7). */
export type PlanRequest = CommandContext &
  (
    | { type: 'create'; plan?: string; project?: string; resources: string[] }
    | { type: 'submit'; plan?: string; project?: string; snapshots: SnapshotsGiven }
    | { type: 'strategized'; plan: string }
    | { type: 'executed' | 'fix'; plan: string; snapshots: SnapshotsGiven }
    | { type: 'respond'; plan: string; answer: 'retry' | 'abort'; guidance?: string }
    /** Snapshots, of which digests are taken, or digests by resource. */
    | { type: 'apply'; plan: string; snapshots?: SnapshotsGiven; digests?: Record<string, string> }
    | { type: 'cancel'; plan: string; reason?: string }
  );

/** What came of it. A refusal is thrown: PLAN_REFUSED, COMMAND_CONFLICT, NOT_FOUND or INVALID_SNAPSHOT. */
export interface PlanAnswer {
  /** The plan after the command, or as it stands now when the command was taken before. */
  plan: PlanState;
  /** The command was taken before; nothing was done. */
  repeated: boolean;
  /** Row of the lifecycle table. */
  row: string;
  /** The checks that apply to the plan's resources now. */
  applicable: Applicable;
}

/** One evaluation of a plan, decided or running. */
export interface PlanEvaluation {
  evaluation: string;
  attempt: number;
  stage: Stage;
  acceptedAt: number;
  /** null while it runs. */
  decision: PlanDecision | null;
  results: Result[];
}

/** One evaluation of a plan by itself. */
export interface PlanEvaluationStatus extends PlanEvaluation {
  plan: string;
  project: string | null;
  /** Who asked for it; null: not known. */
  actor: string | null;
  /** What has no result by then is decided as an error. */
  deadline: number;
  /** What it waits for and no living worker serves; null: nothing. */
  unserved: PlanStatus['unserved'];
}

/** First and last outcome of a check over the life of a plan. */
export interface CheckHistory {
  attachment_id: string;
  validation: string;
  resource: string;
  mode: Result['mode'];
  arguments: JsonObject;
  /** Whether its attachment is among those that apply to the plan now; null once the plan is over. */
  applies: boolean | null;
  first: { attempt: number; outcome: Result['outcome']; message: string };
  final: { attempt: number; outcome: Result['outcome']; message: string };
  /** Results that it had. */
  judged: number;
}

/** A plan with everything that happened to it. */
export interface PlanStatus {
  plan: PlanState;
  timeline: PlanLogEntry[];
  evaluations: PlanEvaluation[];
  checks: CheckHistory[];
  /** What its running evaluation waits for and no living worker serves, since when; null: nothing. */
  unserved: { needs: Need[]; since: number } | null;
}
