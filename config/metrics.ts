import { z } from 'zod';

/** Where metrics are served, and of what. */
export const metricsSettings = {
  metrics: z
    .strictObject({
      listen: z
        .string()
        .regex(/^(?:\[[0-9a-fA-F:.]+\]|[^:[\]\s]+):\d{1,5}$/, 'expected HOST:PORT')
        .optional()
        .describe(
          'HOST:PORT at which a role serves /metrics, /healthz and /readyz, without a token; none: it does not',
        ),
      fleet: z
        .enum(['auto', 'on', 'off'])
        .default('auto')
        .describe(
          'Whether a role shows what is read from Redis too, such as the backlog; auto: all but worker, aggregator and dispatcher do',
        ),
      public: z
        .boolean()
        .default(false)
        .describe('Whether /metrics of the HTTP API needs no token; else one with the role read'),
    })
    .prefault({}),
};
