import { askAgainMs, LATE_MS, type Limit, type LimitState, mayBegin, refilled } from '../../core/limits.js';
import type { LimitStore, TakeAnswer } from '../../ports/limits.js';

interface Kept {
  /** Holders, and when their places run out. */
  held: Map<string, number>;
  /** Those who wait, with their ticket and until when it counts. */
  line: Map<string, { ticket: number; until: number }>;
  tokens: number;
  at: number;
}

const isBefore = (ticket: number, holder: string, other: { ticket: number; holder: string }) =>
  other.ticket < ticket || (other.ticket === ticket && other.holder < holder);

/** Limits in memory. */
export class MemoryLimits implements LimitStore {
  readonly #kept = new Map<string, Kept>();

  async take(
    holder: string,
    ticket: number,
    limits: readonly Limit[],
    now: number,
    leaseMs: number,
  ): Promise<TakeAnswer> {
    const asked = limits.map((limit) => {
      const kept = this.#of(limit, now);
      return { limit, kept, state: stateOf(kept, limit, holder, ticket, now) };
    });
    const blocked = asked.filter(({ limit, state }) => !mayBegin(limit, state));
    for (const { kept } of asked) kept.line.delete(holder);
    if (blocked.length === 0) {
      for (const { kept, state } of asked) {
        kept.held.set(holder, now + leaseMs);
        kept.tokens = state.tokens - 1;
        kept.at = now;
      }
      return { granted: true };
    }
    const pauseMs = Math.max(...blocked.map(({ limit, state }) => askAgainMs(limit, state)));
    for (const { kept } of blocked) kept.line.set(holder, { ticket, until: now + pauseMs + LATE_MS });
    return { granted: false, pauseMs };
  }

  async renew(holder: string, limits: readonly Limit[], until: number): Promise<void> {
    for (const { name } of limits) {
      const held = this.#kept.get(name)?.held;
      if (held?.has(holder)) held.set(holder, until);
    }
  }

  async release(holder: string, limits: readonly Limit[], isUnused: boolean): Promise<void> {
    for (const { name } of limits) {
      const kept = this.#kept.get(name);
      if (kept?.held.delete(holder) && isUnused) kept.tokens += 1;
    }
  }

  #of({ name, rate }: Limit, now: number): Kept {
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      const tokens = refilled(rate, Number.POSITIVE_INFINITY, 0);
      kept = { held: new Map(), line: new Map(), tokens, at: now };
      this.#kept.set(name, kept);
    }
    for (const [holder, until] of kept.held) if (until <= now) kept.held.delete(holder);
    for (const [holder, { until }] of kept.line) if (until <= now) kept.line.delete(holder);
    return kept;
  }
}

function stateOf(kept: Kept, { rate }: Limit, holder: string, ticket: number, now: number): LimitState {
  const others = [...kept.line].filter(
    ([other, waits]) => other !== holder && isBefore(ticket, holder, { ticket: waits.ticket, holder: other }),
  );
  return {
    held: kept.held.size - (kept.held.has(holder) ? 1 : 0),
    tokens: refilled(rate, kept.tokens, now - kept.at),
    ahead: others.length,
  };
}
