import type { MatchOutcome, MatchRequest, RunFailure } from '../core/validators/validator.js';

/** What one search came to, and how many milliseconds it took. */
export interface TimedMatch {
  outcome: MatchOutcome | RunFailure;
  ms: number;
}

/**
 * Searches patterns in texts. No search holds the process past its deadline: one that does not
 * finish is a failure with reason `deadline` (DESIGN 6.3). The verdict never depends on load or
 * on the engine that happened to run.
 */
export interface Matcher {
  /** Answers in the order of the requests. */
  matchAll(requests: readonly MatchRequest[]): Promise<TimedMatch[]>;
}
