import { DEAD_AFTER_MS } from '../app/living.js';
import { FleetGauges } from '../metrics/fleet.js';
import { openPageWriter, type PageWriter } from '../metrics/page.js';
import type { Written } from '../metrics/recorder.js';
import type { Counting, Metrics } from './counting.js';
import type { FleetEngine } from './engine.js';

/** Known before the engine is whole. */
type Parts = Pick<FleetEngine, 'kind' | 'config' | 'redisUrl' | 'store' | 'clock' | 'trouble'>;

async function openGauges(parts: Parts, ended: AbortSignal): Promise<FleetGauges> {
  const [{ openFigures }, { openBacklog, scaleOf, MOST_WORKERS }] = await Promise.all([
    import('../store/redis/figures.js'),
    import('./scale.js'),
  ]);
  const { config, redisUrl, store, clock } = parts;
  const { fleet, autoscale } = config;
  const engine = parts as FleetEngine;
  const scale = scaleOf(engine, ended);
  const limits = { min: autoscale.min, max: autoscale.max || MOST_WORKERS };
  return new FleetGauges({
    figures: openFigures(redisUrl, fleet, store.shards),
    backlog: openBacklog(engine),
    store,
    clock,
    deadAfterMs: DEAD_AFTER_MS,
    wanted: async () => (await scale.answer(limits)).value,
  });
}

/** The metrics of a process of a fleet; what they need is loaded and connected when the first page is asked for. */
export function metricsOf(parts: Parts, { recorder, ofFleet }: Counting): Metrics {
  let writer: Promise<PageWriter> | undefined;
  let gauges: Promise<FleetGauges> | undefined;
  const ended = new AbortController();
  let others: () => Promise<void> = async () => {};
  const fleet = async (): Promise<Written[]> => {
    if (!ofFleet) return [];
    gauges ??= openGauges(parts, ended.signal);
    return (await gauges).read();
  };
  return {
    recorder,
    async page() {
      writer ??= openPageWriter();
      const [read, written] = await Promise.all([fleet(), writer, others()]);
      return written.write([...recorder.written(), ...read]);
    },
    gatherFrom(asked) {
      others = asked;
    },
    async close() {
      ended.abort();
      await gauges?.then((opened) => opened.close());
    },
  };
}
