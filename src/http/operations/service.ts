import { z } from 'zod';
import { DEAD_AFTER_MS } from '../../app/living.js';
import type { HttpDeps } from '../deps.js';
import { openApi } from '../openapi.js';
import { type Operation, operation } from '../operation.js';
import { within } from '../within.js';
import { metricsOperation } from './metrics.js';

/** Milliseconds in which Redis must answer. */
const READY_MS = 2000;

const healthSchema = z.object({ status: z.literal('ok') });

const readinessSchema = z.object({
  status: z
    .enum(['ready', 'draining', 'unavailable'])
    .describe('draining: the server is being ended; unavailable: Redis does not answer'),
  roles: z
    .record(z.string(), z.number().int().min(0))
    .describe('Living processes of the fleet, by role; empty when Redis does not answer'),
});

type Readiness = z.output<typeof readinessSchema>;

async function readiness({ engine, draining }: HttpDeps): Promise<Readiness> {
  if (draining.aborted) return { status: 'draining', roles: {} };
  try {
    const { store, clock } = engine;
    const alive = await within(store.roster.alive(clock.now() - DEAD_AFTER_MS), READY_MS);
    const roles: Record<string, number> = {};
    for (const { role } of alive) roles[role] = (roles[role] ?? 0) + 1;
    return { status: 'ready', roles };
  } catch {
    return { status: 'unavailable', roles: {} };
  }
}

/** Whether the server lives, whether it can work, and what it offers: `all`. */
export function serviceOperations(deps: HttpDeps, all: () => readonly Operation[]): Operation[] {
  let document: string | undefined;
  return [
    operation({
      id: 'getHealth',
      method: 'GET',
      path: '/healthz',
      tag: 'service',
      summary: 'Whether the process lives',
      role: null,
      responses: { 200: { description: 'It does', schema: healthSchema } },
      async run() {
        return { status: 200, body: { status: 'ok' } };
      },
    }),
    operation({
      id: 'getReadiness',
      method: 'GET',
      path: '/readyz',
      tag: 'service',
      summary: 'Whether requests can be carried out',
      role: null,
      responses: {
        200: { description: 'They can', schema: readinessSchema },
        503: { description: 'They cannot', schema: readinessSchema },
      },
      async run() {
        const body = await readiness(deps);
        return { status: body.status === 'ready' ? 200 : 503, body };
      },
    }),
    metricsOperation(deps),
    operation({
      id: 'getOpenApi',
      method: 'GET',
      path: '/openapi.json',
      tag: 'service',
      summary: 'This document',
      role: null,
      responses: {
        200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: z.string() }) },
      },
      async run() {
        document ??= JSON.stringify(openApi(all()));
        return { status: 200, body: document };
      },
    }),
  ];
}
