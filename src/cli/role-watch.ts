import type { RoleName } from '../ports/store.js';

/** Without these nothing is ever decided. */
const NEEDED = ['worker', 'aggregator'] as const satisfies readonly RoleName[];
type NeededRole = (typeof NEEDED)[number];

export const WARN_AFTER_MS = 5000;
export const GIVE_UP_AFTER_MS = 60_000;

export type WatchAnswer = { kind: 'fine' } | { kind: 'warn' | 'give-up'; missing: NeededRole[] };

/**
 * Whether a batch still has a chance: warns once when a needed role has had no live heartbeat for
 * five seconds while nothing was decided, and gives up after a minute. Time is an argument.
 */
export class RoleWatch {
  #since: number | undefined;
  #decided = 0;
  #warned = false;

  /** `alive`: roles with a live heartbeat; `decided`: evaluations decided so far. */
  see(now: number, alive: ReadonlySet<RoleName>, decided: number): WatchAnswer {
    const missing = NEEDED.filter((role) => !alive.has(role));
    if (missing.length === 0 || decided !== this.#decided) {
      this.#since = undefined;
      this.#warned = false;
      this.#decided = decided;
    }
    if (missing.length === 0) return { kind: 'fine' };
    this.#since ??= now;
    if (now - this.#since >= GIVE_UP_AFTER_MS) return { kind: 'give-up', missing };
    if (this.#warned || now - this.#since < WARN_AFTER_MS) return { kind: 'fine' };
    this.#warned = true;
    return { kind: 'warn', missing };
  }
}
