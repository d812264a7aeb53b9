import { z } from 'zod';
import { MOST_WORKERS } from '../../compose/scale.js';
import type { HttpDeps } from '../deps.js';
import { type Operation, operation } from '../operation.js';
import { wholeNumber } from '../schemas/common.js';

const workers = (what: string) => wholeNumber(0, MOST_WORKERS).optional().describe(what);

const querySchema = z.object({
  min: workers('Least workers; without it autoscale.min of the settings'),
  max: workers('Most workers; without it autoscale.max of the settings, or 1024 where that is 0'),
});

const scaleSchema = z.object({
  value: z.number().int().min(0).describe('Workers that are wanted'),
  backlog: z.number().int().min(0).describe('Jobs of checks that nobody has taken'),
  oldest_ms: z.number().int().min(0).describe('How long the oldest of them has waited, in milliseconds'),
  workers: z.number().int().min(0).describe('Workers that are alive'),
});

/** What an autoscaler of a cluster asks. */
export function scaleOperations(deps: HttpDeps): Operation[] {
  return [
    operation({
      id: 'getScale',
      method: 'GET',
      path: '/scale',
      tag: 'service',
      summary: 'How many workers the fleet wants',
      description:
        'Always answers a number, also while Redis is away: then what was told last, or 1. Redis is asked once a second ' +
        'at most. For the metrics-api trigger of KEDA: valueLocation is value, targetValue is 1.',
      role: null,
      query: querySchema,
      example: { query: { min: '0', max: '8' } },
      responses: { 200: { description: 'So many', schema: scaleSchema } },
      async run({ query }) {
        const { autoscale } = deps.engine.config;
        const { min = autoscale.min, max = autoscale.max || MOST_WORKERS } = query;
        return { status: 200, body: await deps.scale.answer({ min, max }) };
      },
    }),
  ];
}
