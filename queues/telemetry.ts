import type { Telemetry } from 'bullmq';

/** Carries traces in the jobs of BullMQ, by OpenTelemetry as this process has set it up. */
export async function openTelemetry(): Promise<Telemetry> {
  const loaded = await import('bullmq-otel');
  const { BullMQOtel } = 'default' in loaded ? (loaded.default as typeof loaded) : loaded;
  return new BullMQOtel({ tracerName: 'sluice' });
}
