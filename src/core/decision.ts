/** Score over non-Ansible rules (DESIGN 3.4). */
export interface Score {
  passed: number;
  total: number;
  /** Integer 0-100, rounded down; null when no rule counted. */
  percent: number | null;
}

export interface Gate {
  passed: boolean;
  reason: string;
}

export interface Gates {
  compliance: Gate;
  resolution: Gate;
}

export interface ResultCounts {
  passed: number;
  failed: number;
  errored: number;
  skipped: number;
  /** Results with `data.vacuous`. */
  vacuous: number;
  /** Informational results that failed or errored. */
  advisories: number;
}

/** What the gates made of a set of results. */
export interface Judgement {
  passed: boolean;
  /** Disjoint: `errored` is not passed with at least one error among the results. */
  status: 'passed' | 'failed' | 'errored';
  score: Score;
  gates: Gates;
  counts: ResultCounts;
}

/**
 * The immutable outcome of an evaluation, as it is stored; what was judged stands in the manifest
 * entry of the same position.
 */
export interface Decision extends Judgement {
  scenarioKey: string;
  /** Who asked for the evaluation; null: not known. */
  actor: string | null;
  /** SHA-256 of its chunk's results as they are stored. */
  resultsDigest: string;
  /** Milliseconds since the epoch. */
  decidedAt: number;
}
