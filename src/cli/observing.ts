import type { Config } from '../../config/schema.js';
import type { Listen } from '../../workers/listening.js';
import { openTracing } from '../compose/tracing.js';
import type { FleetEngine, Observing } from '../compose.js';
import { Recorder } from '../metrics/recorder.js';
import { CHILD_COUNTS } from './child-counts.js';
import { endpointGiven } from './listen.js';
import type { ProblemList } from './options.js';
import { packageVersion } from './package.js';

/** Roles of which there are many: that each of them reads the same from Redis is of no use. */
const MANY: ReadonlySet<string> = new Set(['worker', 'aggregator', 'dispatcher']);

/** Where metrics are served by `--metrics`, or by the settings; a worker process of another serves none. */
export function metricsGiven(
  option: string | undefined,
  settings: Config | undefined,
  problems: ProblemList,
): Listen | undefined {
  if (process.env[CHILD_COUNTS] !== undefined) return undefined;
  return endpointGiven('--metrics', option, 'metrics.listen', settings?.metrics.listen, problems);
}

/** What a process of this role counts and traces, by the settings. `counts`: somebody will ask for what it counts. */
export async function observingOf(config: Config, role: string, counts: boolean): Promise<Observing> {
  const { fleet } = config.metrics;
  const version = packageVersion();
  const ofFleet = fleet === 'on' || (fleet === 'auto' && !MANY.has(role));
  return {
    counting: counts ? { recorder: new Recorder({ version, role }), ofFleet } : undefined,
    tracing: await openTracing(config, { role, version }),
  };
}

/** Serves the metrics of an engine; answers with where, and with its end. Throws USAGE when it cannot listen there. */
export async function startMetrics(
  engine: FleetEngine,
  listen: Listen | undefined,
): Promise<{ url: string | null; close(): Promise<void> }> {
  if (listen === undefined) return { url: null, async close() {} };
  const { serveMetrics } = await import('../../workers/metrics-server.js');
  return serveMetrics(engine, listen);
}
