import { TERMINAL_PHASES } from '../../core/plan/model.js';
import type { Clock } from '../../ports/clock.js';
import type { Store } from '../../ports/store.js';
import type { RegistryService } from '../registry/service.js';

export interface EndedDeps {
  store: Store;
  clock: Clock;
  registry: Pick<RegistryService, 'attachments' | 'detachFromPlans'>;
}

/** Milliseconds for which attachments of a plan that has ended can still be looked at, at the most. */
const LOOKED_AT_MS = 3_600_000;

/** A prime, so that whenever the sweeper comes it begins somewhere else. */
const STRIDE = 7919;

/**
 * Removes attachments to plans that have ended, before the plans themselves are forgotten: the registry
 * must not grow with every plan, nor a plan whose id is used again come upon them. Looks at `limit` plans,
 * others each time; returns how many attachments went.
 */
export async function forgetEndedPlans(deps: EndedDeps, limit: number): Promise<number> {
  const { store, clock, registry } = deps;
  const attached = (await registry.attachments()).filter(({ scope }) => scope === 'plan');
  const targets = [...new Set(attached.flatMap(({ target }) => target ?? []))];
  if (targets.length === 0) return 0;
  const now = clock.now();
  const first = (Math.floor(now / 1000) * STRIDE) % targets.length;
  const looked = [...targets.slice(first), ...targets.slice(0, first)].slice(0, limit);
  const ended: string[] = [];
  for (const plan of looked) {
    const state = await store.plans.plan(plan);
    if (state === undefined || !TERMINAL_PHASES.has(state.phase)) continue;
    const kept = Math.min(LOOKED_AT_MS, state.policy.retention / 2);
    if (now - state.updatedAt >= kept) ended.push(plan);
  }
  return ended.length === 0 ? 0 : registry.detachFromPlans(ended);
}
