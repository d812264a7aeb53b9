/** What is kept of batches besides what their age says: the newest of each. */
export interface RetentionRules {
  /** Decided evaluations of one batch whose results stay. */
  evaluations: number;
  /** Completed batches. */
  batches: number;
}

/** What one step of forgetting took away. */
export interface Forgotten {
  evaluations: number;
  batches: number;
  /** Whether another step would take more away. */
  isMore: boolean;
}

/**
 * How long batches and their results stay. A batch is kept whole until its completion and its retention are
 * over; what is beyond the counts goes sooner. Nothing goes that somebody reads.
 */
export interface RetentionStore {
  /**
   * Somebody reads the batch from `cursor` of its log on ('': all of it): that much of it stays, for `forMs`
   * milliseconds from `now`. Called again before these are over, and with a later cursor.
   */
  follow(batch: string, follower: string, cursor: string, now: number, forMs: number): Promise<void>;
  /** The follower has read what it wants. */
  unfollow(batch: string, follower: string): Promise<void>;
  /** Takes away what is kept no longer at `now`: some hundred evaluations in one step, in small commands. */
  forget(now: number, rules: RetentionRules): Promise<Forgotten>;
}
