import type { EvaluationDocument } from '../../core/document.js';
import type { PlanState } from '../../core/plan/model.js';
import type { Need } from '../../core/registry/needs.js';
import type { Reference } from '../../ports/references.js';

/** Something that a request carries or refers to. */
export type Given = { inline: unknown } | { reference: Reference };

/** A request to judge one run, from a bus, over HTTP or by the library. */
export interface EvaluationRequest {
  /** Whose keys these are: CloudEvents `source`, or a token in angle brackets. */
  origin: string;
  /** The same origin and key are the same evaluation, however often it is asked for: CloudEvents `id`. */
  key: string;
  actor: string;
  /** Goes into the events as `correlationid`; default: the evaluation's id. */
  correlation?: string;
  /** The content of a scenario.json. */
  scenario: Given;
  /** Files of the scenario's folder that its playbooks need, by path: text. */
  files?: Record<string, string>;
  /** A run record. */
  run: Given;
  strict?: boolean;
  from?: 'gateway' | 'message' | 'direct';
}

export interface EvaluationAnswer {
  evaluation: string;
  /** It was asked for before; nothing was done. */
  repeated: boolean;
}

/** An evaluation of a run as it stands. */
export interface EvaluationStatus {
  id: string;
  state: 'pending' | 'decided';
  /** null: it was asked for by itself. */
  batch: string | null;
  actor: string | null;
  run: string;
  case: string;
  /** Milliseconds since the epoch. */
  acceptedAt: number;
  /** What has no result by then is decided as an error. */
  deadline: number;
  /** null while it is pending. */
  decision: EvaluationDocument | null;
  /** What it waits for and no living worker serves; null: nothing. */
  unserved: { needs: Need[]; since: number } | null;
}

/** What came of a command from a bus, or of a CloudEvent that was posted. */
export interface CommandOutcome {
  /** Id and type of the CloudEvent. */
  id: string;
  type: string;
  /** `ignored`: an event that Sluice itself sends, which came back. */
  outcome: 'accepted' | 'repeated' | 'ignored';
  evaluation?: string;
  plan?: Pick<PlanState, 'id' | 'phase' | 'revision'>;
}
