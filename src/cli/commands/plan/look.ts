import { distance } from 'fastest-levenshtein';
import { plansOf } from '../../../compose.js';
import { PHASES } from '../../../core/plan/model.js';
import { nearestName, SluiceError } from '../../../core/problem.js';
import type { PlanStore } from '../../../ports/plans.js';
import { type AskerOptions, askFleet, withFleet } from '../../asker.js';
import { choice, ProblemList, wholeNumber } from '../../options.js';
import { print, printJson, say } from '../../output.js';
import { planDocument, statusDocument } from './documents.js';
import { plansTable, statusText } from './words.js';

const DEFAULT_LIMIT = 50;
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

/** `sluice plan status ID`; answers 0. Throws NOT_FOUND. */
export async function planStatus(id: string, options: AskerOptions): Promise<number> {
  const { status, settings } = await askFleet(options, 'read', async ({ engine }) => {
    const found = await withNearest(engine.store.plans, id, () => plansOf(engine).status(id));
    return { status: found, settings: engine.config };
  });
  if (options.json) await printJson(statusDocument(status));
  else await print(statusText(status, settings));
  return 0;
}

export interface PlanListOptions extends AskerOptions {
  phase?: string;
  project?: string;
  limit?: string;
}

/** `sluice plan list`; answers 0. */
export async function listPlans(options: PlanListOptions): Promise<number> {
  const problems = new ProblemList();
  const phase = choice('--phase', options.phase, PHASES, problems);
  const limit = wholeNumber('--limit', options.limit, 1, problems) ?? DEFAULT_LIMIT;
  const { project } = options;
  const filter = {
    limit,
    ...(phase === undefined ? {} : { phase }),
    ...(project === undefined ? {} : { project }),
  };
  const plans = await withFleet(options, 'read', problems, 'nothing was read.', ({ engine }) =>
    plansOf(engine).list(filter),
  );
  if (options.json) {
    await printJson({ plans: plans.map(planDocument) });
    return 0;
  }
  if (plans.length === 0) say('sluice: there is no such plan');
  if (plans.length === limit) say(`sluice: the newest ${limit}; --limit shows more`);
  await print(plansTable(plans));
  return 0;
}
