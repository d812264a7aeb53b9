import { planPacks } from '../core/packing.js';
import type { Clock } from '../ports/clock.js';
import type { WorkQueue } from '../ports/queue.js';
import type { RetentionRules } from '../ports/retention.js';
import type { Store } from '../ports/store.js';
import { settleBatch } from './batches.js';
import type { Aggregator } from './decide.js';
import { sweepPlans } from './plan/deadlines.js';
import { type EndedDeps, forgetEndedPlans } from './plan/ended.js';
import { enqueuePlan, type PlanKeeper } from './plan/keeper.js';
import { forgetBatches } from './retention.js';
import { Routing } from './routing.js';
import { checkPlaces, ScenarioCache } from './scenarios.js';

export interface SweepDeps {
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  fleet: string;
  aggregator: Pick<Aggregator, 'decide'>;
  keeper: Pick<PlanKeeper, 'move'>;
  registry: EndedDeps['registry'];
  settings: SweepSettings;
  /** Told of a chunk or batch that could not be looked at; the others are looked at all the same. */
  onError?: (error: Error) => void;
}

export interface SweepSettings {
  /** Milliseconds until a chunk that was found alive or enqueued anew is looked at again. */
  checkAfterMs: number;
  /** Chunks looked at in one sweep. */
  limit: number;
  /** Outbox entries that every reader has delivered are dropped once older than this, in milliseconds. */
  keepEventsMs: number;
  /** … or once there are more than this. */
  keepEvents: number;
  /** What is kept of batches besides what their age says. */
  keep: RetentionRules;
}

export interface SweepReport {
  alive: number;
  requeued: number;
  overdue: number;
  completed: number;
  trimmed: number;
  /** Evaluations whose retention is over. */
  forgotten: number;
  /** Plans whose waiting phase had lasted too long. */
  moved: number;
}

const NOTHING: SweepReport = {
  alive: 0,
  requeued: 0,
  overdue: 0,
  completed: 0,
  trimmed: 0,
  moved: 0,
  forgotten: 0,
};

/** Plans with attachments of their own that one sweep looks at, whether they have ended. */
const PLANS_LOOKED_AT = 20;

/**
 * Finds what would not go on by itself (DESIGN 5.6): chunks that were accepted but never enqueued,
 * or whose flow is lost, are enqueued anew under a raised generation; overdue ones are decided with
 * what there is; those that wait for a runner which no living worker has are noted; batches whose
 * completion was missed are completed; plans whose phase has lasted too long are moved; attachments to
 * ended plans, delivered events, and batches whose retention is over, are dropped.
 */
export async function sweep(deps: SweepDeps): Promise<SweepReport> {
  const { store, clock, fleet, settings } = deps;
  const report: SweepReport = { ...NOTHING };
  const scenarios = new ScenarioCache(store.evaluations);
  const routing = new Routing({ store, clock, fleet, scenarios });
  const each = async (work: () => Promise<void>) => work().catch((error: Error) => deps.onError?.(error));
  await each(() => routing.lookAgain());
  for (const id of await store.evaluations.dueChunks(clock.now(), settings.limit)) {
    await each(async () => {
      report[await sweepChunk(deps, scenarios, routing, id)] += 1;
    });
  }
  for (const id of await store.batches.unfinishedBatches()) {
    await each(async () => {
      await settleBatch(store, clock, fleet, await store.batches.batch(id));
      report.completed += 1;
    });
  }
  report.moved = await sweepPlans(deps, settings.limit);
  await each(async () => {
    await forgetEndedPlans(deps, PLANS_LOOKED_AT);
  });
  await each(async () => {
    report.forgotten = await forgetBatches(store, clock, settings.keep);
  });
  report.trimmed = await store.outbox.trim(clock.now(), settings.keepEventsMs, settings.keepEvents);
  return report;
}

async function sweepChunk(
  deps: SweepDeps,
  scenarios: ScenarioCache,
  routing: Routing,
  id: string,
): Promise<'alive' | 'requeued' | 'overdue'> {
  const { store, queue, clock, aggregator, settings } = deps;
  const found = await store.evaluations.chunk(id);
  const now = clock.now();
  const checkAt = now + settings.checkAfterMs;
  if (found === undefined) {
    await store.evaluations.deferCheck(id, checkAt);
    return 'alive';
  }
  const { chunk, generation } = found;
  if (now >= chunk.deadline) {
    // Why there is no result is good to know, and no reason to be late.
    await routing.giveUp(chunk).catch((error: Error) => deps.onError?.(error));
    await aggregator.decide(id);
    return 'overdue';
  }
  if (await queue.isAlive(chunk, generation)) {
    await store.evaluations.deferCheck(id, Math.min(checkAt, chunk.deadline));
    await routing.look(chunk);
    return 'alive';
  }
  const raised = await store.evaluations.raiseGeneration(id, generation, Math.min(checkAt, chunk.deadline));
  if (raised === undefined) return 'alive';
  if (chunk.plan !== undefined) {
    await enqueuePlan(queue, chunk, raised);
    return 'requeued';
  }
  const known = await scenarios.get(chunk.evaluations.map((entry) => entry.scenario));
  const places = chunk.evaluations.map((entry) => {
    const scenario = known.get(entry.scenario);
    return scenario === undefined ? [] : checkPlaces(scenario, chunk.options);
  });
  await queue.enqueue(chunk, raised, planPacks(places, 'auto'));
  return 'requeued';
}
