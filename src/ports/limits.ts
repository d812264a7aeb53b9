import type { Limit } from '../core/limits.js';

/** `pauseMs`: when to ask again, under the same holder and ticket. */
export type TakeAnswer = { granted: true } | { granted: false; pauseMs: number };

/** What runs under limits, over all workers of a fleet. */
export interface LimitStore {
  /**
   * Takes a place under all of these limits, or under none. Who is not let in keeps its turn by its ticket,
   * the time at which it first asked: it is let in before all who came later, as long as it asks again in
   * time. A place is free again after `leaseMs` without `renew`. To take again what one has is to have it
   * once.
   */
  take(
    holder: string,
    ticket: number,
    limits: readonly Limit[],
    now: number,
    leaseMs: number,
  ): Promise<TakeAnswer>;
  /** Keeps the places until `until`; those that ran out stay free. */
  renew(holder: string, limits: readonly Limit[], until: number): Promise<void>;
  /** Frees the places. `isUnused`: nothing has begun, so that the rate is as before. */
  release(holder: string, limits: readonly Limit[], isUnused: boolean): Promise<void>;
}
