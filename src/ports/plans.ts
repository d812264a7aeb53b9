import type { OutboxEvent } from '../core/events.js';
import type { Chunk } from '../core/manifest.js';
import type { Phase, PlanState } from '../core/plan/model.js';
import type { Blob } from './blob.js';

/** One line of a plan's history; there is one for every transition. */
export interface PlanLogEntry {
  revision: number;
  /** Milliseconds since the epoch. */
  at: number;
  actor: string;
  /** The input that moved it, such as `fix` or `decided`. */
  command: string;
  /** Row of the lifecycle table. */
  row: string;
  from: Phase | null;
  to: Phase;
  attempt: number;
  /** The evaluation that was decided by this step. */
  decided: string | null;
  /** The evaluation that this step asked for. */
  evaluation: string | null;
  /** Guidance, reason, or why the gate is shut. */
  note: string | null;
}

/** A command as it is remembered: the same id again is the same transition. */
export interface CommandMark {
  id: string;
  /** Digest of what the command said; another one under the same id is a conflict. */
  digest: string;
}

/** A decision to be written with the transition. */
export interface PlanDecisionToCommit {
  /** The evaluation's chunk, which has it alone. */
  chunk: string;
  json: string;
  /** Results as they are stored, staged under `stage`; null for none (cancelled). */
  results: { stage: string; json: string } | null;
}

/** Everything that changes with one transition: written whole or not at all. */
export interface PlanStep {
  plan: string;
  /** The revision that must stand; 0 when the plan must not exist yet. */
  expected: number;
  now: number;
  /** Revision of the registry that must stand; absent: any. */
  registry?: number | undefined;
  /** The step is stale after this time, in milliseconds since the epoch by the store's clock; absent: never. */
  before?: number | undefined;
  command: CommandMark | null;
  /** The next state and its line of history; null: the plan does not move, only the decision is written. */
  next: { state: PlanState; log: PlanLogEntry } | null;
  decision: PlanDecisionToCommit | null;
  /** The evaluation that is asked for: manifest, evidence, and when to look whether it goes on. */
  accept: { chunk: Chunk; blobs: readonly Blob[]; checkAt: number } | null;
  events: readonly OutboxEvent[];
  /** Milliseconds that evidence is leased, and that an ended plan is kept. */
  retentionMs: number;
}

export type PlanStepAnswer =
  | { done: true }
  /** The command was taken before: at that revision. */
  | { done: false; reason: 'repeated'; revision: number; digest: string }
  /** Another revision stands, of the plan or of the registry. */
  | { done: false; reason: 'stale'; state: PlanState | undefined }
  /** The evaluation was decided before; nothing was written. */
  | { done: false; reason: 'decided' }
  /** The outbox takes nothing more that asks for an evaluation. */
  | { done: false; reason: 'outbox_full' };

export interface PlanFilter {
  phase?: Phase;
  project?: string;
  /** The newest so many. */
  limit: number;
}

/** Plans: their state, the commands that they took, and their history. */
export interface PlanStore {
  plan(id: string): Promise<PlanState | undefined>;
  /** Where the plan took a command of this id. */
  command(plan: string, id: string): Promise<{ revision: number; digest: string } | undefined>;
  /** In order of revision. */
  log(plan: string): Promise<PlanLogEntry[]>;
  /** The newest first. */
  plans(filter: PlanFilter): Promise<PlanState[]>;
  /** Plans whose deadline has passed, the most overdue first. */
  due(now: number, limit: number): Promise<string[]>;
  step(step: PlanStep): Promise<PlanStepAnswer>;
}
