import { z } from 'zod';
import { planDocument, statusDocument } from '../../app/plan/documents.js';
import { withNearest } from '../../app/plan/nearest.js';
import { PHASES } from '../../core/plan/model.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';
import { wholeNumber } from '../schemas/common.js';
import { planStatusSchema, plansSchema } from '../schemas/plans.js';
import { planCommandOperations } from './plan-commands.js';

const paramsSchema = z.strictObject({ plan: z.string().min(1).describe('Id of the plan') });
type Params = z.output<typeof paramsSchema>;

const querySchema = z.strictObject({
  phase: z.enum(PHASES).optional().describe('Only plans in this phase'),
  project: z.string().min(1).optional().describe('Only plans of this project'),
  limit: wholeNumber(1, 1000).optional().describe('Plans at most; default 50'),
});

function listOf(deps: HttpDeps): Operation {
  return operation<unknown, z.output<typeof querySchema>, unknown>({
    id: 'listPlans',
    method: 'GET',
    path: '/v1/plans',
    tag: 'plans',
    summary: 'Plans, the newest first',
    role: 'read',
    query: querySchema,
    responses: { 200: { description: 'The newest plans', schema: plansSchema } },
    example: { query: { limit: '10' } },
    async run({ query: { phase, project, limit = 50 } }) {
      const found = await deps.plans.list({
        limit,
        ...(phase === undefined ? {} : { phase }),
        ...(project === undefined ? {} : { project }),
      });
      return { status: 200, body: { plans: found.map(planDocument) } };
    },
  });
}

function showOf(deps: HttpDeps): Operation {
  return operation<Params, unknown, unknown>({
    id: 'getPlan',
    method: 'GET',
    path: '/v1/plans/{plan}',
    tag: 'plans',
    summary: 'A plan with its timeline, evaluations, and the first and last result of each check',
    role: 'read',
    params: paramsSchema,
    responses: {
      200: {
        description: 'The plan',
        schema: planStatusSchema,
        headers: { ETag: 'Revision of the plan, in quotes: If-Match of a command takes it' },
      },
    },
    problems: ['NOT_FOUND'],
    example: { params: { plan: 'example-plan' } },
    async run({ params }) {
      const status = await withNearest(deps.engine.store.plans, params.plan, () =>
        deps.plans.status(params.plan),
      );
      return { status: 200, body: statusDocument(status), headers: { etag: `"${status.plan.revision}"` } };
    },
  });
}

/** Plans: commands to them, and what became of them. */
export const planOperations = (deps: HttpDeps): Operation[] => [
  listOf(deps),
  showOf(deps),
  ...planCommandOperations(deps),
];
