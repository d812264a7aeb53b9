import type { Config } from '../../config/schema.js';
import { Aggregator } from '../app/decide.js';
import { PlanAggregator } from '../app/plan/decide.js';
import { PlanKeeper } from '../app/plan/keeper.js';
import { PlanService } from '../app/plan/service.js';
import { RegistryService } from '../app/registry/service.js';
import type { PlanPolicy } from '../core/plan/model.js';
import type { Engine } from './engine.js';
import { interpreter } from './executor.js';

/** What keeping plans takes of an engine. */
type PlanParts = Pick<Engine, 'store' | 'queue' | 'clock' | 'config'>;

/** Registry of an engine's fleet. */
export function registryOf({ store, clock }: Pick<Engine, 'store' | 'clock'>): RegistryService {
  return new RegistryService({ store: store.registry, interpreter, clock });
}

/** Load, decide and save for the plans of an engine's fleet. */
export function keeperOf(engine: PlanParts): PlanKeeper {
  const { store, queue, clock, config } = engine;
  return new PlanKeeper({
    store,
    queue,
    clock,
    registry: registryOf(engine),
    fleet: config.fleet,
    events: { perCheck: config.events.per_check },
    checkAfterMs: config.sweeper.check_after,
    retentionMs: config.plans.retention,
  });
}

/** Policy of the plans that are made with these settings. */
function policyOf({ plans, evaluation }: Config): PlanPolicy {
  const { strategize, execute, fix, escalated } = plans.deadlines;
  return {
    fixes: plans.fixes,
    revisions: plans.revisions,
    escalations: plans.escalations,
    errorRetries: plans.error_retries,
    requireValidations: plans.require_validations,
    ...(plans.require_enforced ? { requireEnforced: true } : {}),
    deadlines: { strategize, execute, fix, escalated },
    evaluationDeadline: evaluation.deadline,
    retention: plans.retention,
  };
}

/** Plans of an engine's fleet. */
export function plansOf(engine: PlanParts & Pick<Engine, 'pressure'>): PlanService {
  const { store, clock, config, pressure } = engine;
  const held = pressure === undefined ? {} : { pressure };
  return new PlanService({ store, clock, keeper: keeperOf(engine), policy: policyOf(config), ...held });
}

/** Decides evaluations, of runs and of plans. */
export function createAggregator(engine: PlanParts): Aggregator {
  const { store, clock, config } = engine;
  const events = { perCheck: config.events.per_check };
  const common = { store, clock, fleet: config.fleet, events };
  return new Aggregator({ ...common, plans: new PlanAggregator({ ...common, keeper: keeperOf(engine) }) });
}
