import { planDocument, statusDocument } from '../../../app/plan/documents.js';
import { withNearest } from '../../../app/plan/nearest.js';
import { plansOf } from '../../../compose.js';
import { PHASES } from '../../../core/plan/model.js';
import { type AskerOptions, askFleet, withFleet } from '../../asker.js';
import { choice, ProblemList, wholeNumber } from '../../options.js';
import { print, printJson, say } from '../../output.js';
import { plansTable, statusText } from './words.js';

const DEFAULT_LIMIT = 50;
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
