import type { Config } from '../../config/schema.js';
import type { Observers } from '../../queues/observed.js';
import type { Tracer } from '../ports/tracer.js';

/** Traces of this process, and what carries them in the jobs of its queues. */
export interface Tracing {
  tracer: Tracer;
  telemetry: NonNullable<Observers['telemetry']>;
}

/** Opens traces where the settings ask for them: undefined, and nothing is loaded, where they do not. */
export async function openTracing(
  { telemetry: { traces, sample }, fleet }: Pick<Config, 'telemetry' | 'fleet'>,
  process: { role: string; version: string },
): Promise<Tracing | undefined> {
  if (traces === 'off') return undefined;
  const [{ openTracer }, { openTelemetry }] = await Promise.all([
    import('../telemetry/tracer.js'),
    import('../../queues/telemetry.js'),
  ]);
  const url = traces === 'otlp' ? undefined : traces;
  const tracer = await openTracer({ url, sample, fleet, ...process });
  return { tracer, telemetry: await openTelemetry() };
}
