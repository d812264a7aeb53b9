import type { Config } from '../../config/schema.js';
import { DEAD_AFTER_MS } from '../app/living.js';
import { FleetGauges } from '../metrics/fleet.js';
import { type MetricsPage, openPageWriter, type PageWriter } from '../metrics/page.js';
import type { Recorder, Written } from '../metrics/recorder.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';

export type { MetricsPage } from '../metrics/page.js';
export { Recorder } from '../metrics/recorder.js';

/** What this process counts, and whether its page tells of the fleet too. */
export interface Counting {
  recorder: Recorder;
  ofFleet: boolean;
}

/** The page of this process. */
export interface Metrics {
  recorder: Recorder;
  page(): Promise<MetricsPage>;
  /** Before each page, others add what they have counted. */
  gatherFrom(others: () => Promise<void>): void;
  close(): Promise<void>;
}

interface Parts {
  config: Config;
  redisUrl: string;
  store: Store;
  clock: Clock;
}

async function openGauges({ config, redisUrl, store, clock }: Parts): Promise<FleetGauges> {
  const [{ openFigures }, { BullBacklog }] = await Promise.all([
    import('../store/redis/figures.js'),
    import('../../queues/backlog.js'),
  ]);
  const { fleet } = config;
  return new FleetGauges({
    figures: openFigures(redisUrl, fleet),
    backlog: new BullBacklog({ url: redisUrl, fleet }, () => {}),
    store,
    clock,
    deadAfterMs: DEAD_AFTER_MS,
  });
}

/** The metrics of a process of a fleet; what they need is loaded and connected when the first page is asked for. */
export function metricsOf(parts: Parts, { recorder, ofFleet }: Counting): Metrics {
  let writer: Promise<PageWriter> | undefined;
  let gauges: Promise<FleetGauges> | undefined;
  let others: () => Promise<void> = async () => {};
  const fleet = async (): Promise<Written[]> => {
    if (!ofFleet) return [];
    gauges ??= openGauges(parts);
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
      await gauges?.then((opened) => opened.close());
    },
  };
}
