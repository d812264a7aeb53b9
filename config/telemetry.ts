import { z } from 'zod';

/** Where traces go. */
export const telemetrySettings = {
  telemetry: z
    .strictObject({
      traces: z
        .union([z.literal(['off', 'otlp']), z.url({ protocol: /^https?$/ })], {
          error: 'expected off, otlp, or an http or https URL',
        })
        .default('off')
        .describe(
          'OTLP receiver of traces over HTTP, such as http://127.0.0.1:4318; otlp: the one that OTEL_EXPORTER_OTLP_ENDPOINT names; off: no traces, whatever the environment says',
        ),
      sample: z
        .number()
        .min(0)
        .max(1)
        .default(1)
        .describe('Share of the traces that begin here which are kept; 1: all'),
    })
    .prefault({}),
};
