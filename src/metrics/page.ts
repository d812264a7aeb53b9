import type { Metric } from 'prom-client';
import type { Written } from './recorder.js';
import type { Distribution } from './series.js';

/** A page in the text format of Prometheus. */
export interface MetricsPage {
  contentType: string;
  text: string;
}

/** Writes metrics beside those of Node.js and of the process itself. */
export interface PageWriter {
  write(metrics: readonly Written[]): Promise<MetricsPage>;
}

/** Gauges of prom-client with names that Prometheus keeps for counters; others say the same by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

interface Value {
  labels: Record<string, string>;
  value: number;
  metricName?: string;
}

function bucketsOf(
  { name, buckets = [] }: Written['family'],
  labels: Record<string, string>,
  { counts, sum }: Distribution,
): Value[] {
  let total = 0;
  const values = [...buckets, '+Inf'].map((bound, n): Value => {
    total += counts[n] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: String(bound) }, value: total };
  });
  return [
    ...values,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

function valuesOf({ family, series }: Written): Value[] {
  return series.flatMap(([labels, value]): Value[] => {
    const named = Object.fromEntries(family.labels.map((label, n) => [label, labels[n] ?? '']));
    return typeof value === 'number' ? [{ labels: named, value }] : bucketsOf(family, named, value);
  });
}

/** Loads prom-client; the metrics of the process are gathered from here on. */
export async function openPageWriter(): Promise<PageWriter> {
  const loaded = await import('prom-client');
  const { collectDefaultMetrics, Registry } = loaded.default ?? loaded;
  const ownProcess = new Registry();
  collectDefaultMetrics({ register: ownProcess });
  for (const name of MISNAMED) ownProcess.removeSingleMetric(name);
  return {
    async write(metrics) {
      const registry = new Registry();
      for (const written of metrics.filter(({ series }) => series.length > 0)) {
        const { name, help, type } = written.family;
        const values = valuesOf(written);
        const metric = { name, help, type, get: async () => ({ name, help, type, values }) };
        registry.registerMetric(metric as unknown as Metric);
      }
      const [own, ours] = await Promise.all([ownProcess.metrics(), registry.metrics()]);
      return { contentType: registry.contentType, text: `${ours}\n${own}` };
    },
  };
}
