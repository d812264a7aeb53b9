import type { PlanState } from '../../core/plan/model.js';
import type { PlanFilter, PlanLogEntry, PlanStep, PlanStepAnswer, PlanStore } from '../../ports/plans.js';
import { inTurn, type Shards } from './shards.js';

/** How long the registry is kept as it is for one step, and how much of that the step may use, in milliseconds. */
const HOLD_MS = 10_000;
const STEP_MS = 5_000;

/** Plans over several shards: each lives with its evaluations and events in one. */
export class ShardedPlans implements PlanStore {
  readonly #shards: Shards;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  async #of(plan: string): Promise<PlanStore> {
    return (await this.#shards.ofPlan(plan)).plans;
  }

  async plan(id: string): Promise<PlanState | undefined> {
    return (await this.#of(id)).plan(id);
  }

  async command(plan: string, id: string): Promise<{ revision: number; digest: string } | undefined> {
    return (await this.#of(plan)).command(plan, id);
  }

  async log(plan: string): Promise<PlanLogEntry[]> {
    return (await this.#of(plan)).log(plan);
  }

  async plans(filter: PlanFilter): Promise<PlanState[]> {
    const lists = await this.#shards.each(({ plans }) => plans.plans(filter));
    const all = lists.flat().sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    return all.slice(0, filter.limit);
  }

  /** The most overdue of each shard, each shard in turn. */
  async due(now: number, limit: number): Promise<string[]> {
    return inTurn(await this.#shards.each(({ plans }) => plans.due(now, limit)), limit);
  }

  async step(step: PlanStep): Promise<PlanStepAnswer> {
    const shard = await this.#shards.shardOfPlan(step.plan);
    const { plans } = this.#shards.at(shard);
    if (step.registry === undefined || shard === 0) return plans.step(step);
    return this.#stepOnRegistry(plans, step, step.registry);
  }

  /** The registry is in the home: it is kept as it is until the step is taken, or may be taken no more. */
  async #stepOnRegistry(plans: PlanStore, step: PlanStep, expected: number): Promise<PlanStepAnswer> {
    const { registry } = this.#shards.home;
    const hold = await registry.hold(expected, HOLD_MS);
    if (hold === undefined) return { done: false, reason: 'stale', state: await this.plan(step.plan) };
    try {
      const before = hold.until - HOLD_MS + STEP_MS;
      return await plans.step({ ...step, registry: undefined, before });
    } finally {
      await registry.release(hold.id);
    }
  }
}
