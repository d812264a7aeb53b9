import type { Meter } from '../ports/meter.js';
import type { Store } from '../ports/store.js';
import { overriding } from './overriding.js';

const STATUSES: ReadonlySet<unknown> = new Set(['passed', 'failed', 'errored']);

/** A store that counts what it accepts and decides; a repeat that changes nothing counts for nothing. */
export function withMeter(store: Store, meter: Meter): Store {
  const evaluations = overriding(store.evaluations, {
    async accept(chunk, ...rest) {
      const answer = await store.evaluations.accept(chunk, ...rest);
      if (answer.accepted) meter.accepted(chunk.evaluations.length);
      return answer;
    },
    async commit(chunk, stage, results, decisions, ...rest) {
      const answer = await store.evaluations.commit(chunk, stage, results, decisions, ...rest);
      const fresh = new Set(answer.fresh);
      for (const { position, status } of decisions) if (fresh.has(position)) meter.decided(status);
      return answer;
    },
  });
  const plans = overriding(store.plans, {
    async step(step) {
      const answer = await store.plans.step(step);
      if (!answer.done) return answer;
      if (step.accept !== null) meter.accepted(step.accept.chunk.evaluations.length);
      if (step.decision === null) return answer;
      const { status } = JSON.parse(step.decision.json) as { status: unknown };
      if (STATUSES.has(status)) meter.decided(status as 'passed' | 'failed' | 'errored');
      return answer;
    },
  });
  return overriding(store, { evaluations, plans });
}
