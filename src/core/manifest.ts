import type { Turns } from './fairness.js';
import type { PlanManifest } from './plan/model.js';

/** What holds for every evaluation of a batch; part of the manifest, so that no worker's settings matter. */
export interface EvaluationOptions {
  /** A vacuous pass counts as fail (DESIGN 3.2.6). */
  strict: boolean;
  /** Where the runs came in; gateway rules apply only with `gateway` (DESIGN 3.2.3). */
  from: 'gateway' | 'message' | 'direct';
  /** `block`: an error in an informational rule closes the compliance gate (DESIGN 3.4). */
  informationalErrors: 'ignore' | 'block';
  /** A required check passes only where something kept it from writing (DESIGN 6.2); absent: no. */
  requireEnforced?: boolean;
}

/** One evaluation as its manifest names it. */
export interface ManifestEntry {
  /** Evaluation id: 26 characters, a function of batch, scenario and run. */
  id: string;
  /** Position in the batch's input, from 0. */
  index: number;
  run: string;
  case: string;
  /** Digest of the scenario; its rules are the expected checks, in order. Empty for a plan. */
  scenario: string;
  /** Digest of the subject; of a plan's digests of all its snapshots. */
  subject: string;
}

/** Evaluations that are accepted in one step and travel in one flow. Written before any job. */
export interface Chunk {
  /** Id of its first evaluation. */
  id: string;
  /** Empty for a plan, and for an evaluation that was asked for by itself. */
  batch: string;
  attempt: number;
  options: EvaluationOptions;
  /** Milliseconds since the epoch at which what is missing is decided as an error. */
  deadline: number;
  acceptedAt: number;
  evaluations: ManifestEntry[];
  /** Its one evaluation is large (`largeMark`): it is decided a page at a time. */
  isLarge?: true;
  /** A plan's evaluation, which is alone in its chunk: its checks take the place of a scenario's rules. */
  plan?: PlanManifest;
  /** Who asked for it; absent: not known. */
  actor?: string;
  /** Turns of its packs, of the bulk of a large batch; absent: they go before all that have one. */
  turns?: Turns;
  /** An evaluation that was asked for by itself, and is of no batch. */
  single?: {
    /** `correlationid` of its events. */
    correlation: string;
    /** Milliseconds that it and its evidence are kept once it is decided. */
    retentionMs: number;
  };
}
