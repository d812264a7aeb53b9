import { distance } from 'fastest-levenshtein';
import { nearestName, SluiceError } from '../../core/problem.js';
import type { PlanStore } from '../../ports/plans.js';

/** Plans, the newest first, among which the one is looked for that was meant. */
const LOOKED_AT = 1000;

/** The plan that was probably meant; undefined where none is near. */
export async function nearestPlan(store: PlanStore, id: string): Promise<string | undefined> {
  const ids = (await store.plans({ limit: LOOKED_AT })).map((plan) => plan.id);
  const nearest = nearestName(id, ids);
  // Ids that were made in the same hour are alike by half: that is no slip.
  return nearest === undefined || distance(id, nearest) > Math.max(2, id.length / 6) ? undefined : nearest;
}

/** Names the plan that was probably meant where there is none of that id. */
export async function withNearest<T>(store: PlanStore, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== 'NOT_FOUND') throw error;
    const nearest = await nearestPlan(store, id);
    if (nearest === undefined) throw error;
    const problem = {
      code: error.code,
      path: 'id',
      message: 'is no plan',
      found: JSON.stringify(id),
      nearest,
    };
    throw new SluiceError('NOT_FOUND', error.message, [problem]);
  }
}
