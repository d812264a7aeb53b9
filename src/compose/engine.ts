import type { Logger } from 'pino';
import type { Config } from '../../config/schema.js';
import type { Observers } from '../../queues/observed.js';
import type { BullWorkQueue } from '../../queues/work-queue.js';
import type { OutageListener } from '../app/outage.js';
import type { Pressure } from '../app/pressure.js';
import type { Clock } from '../ports/clock.js';
import type { WorkQueue } from '../ports/queue.js';
import type { Store } from '../ports/store.js';
import type { Tracer } from '../ports/tracer.js';
import type { Metrics } from './counting.js';

/** What every face and worker is built from. */
export interface Engine {
  kind: 'fleet' | 'inline';
  config: Config;
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  log: Logger;
  /** Holds up who brings work while the fleet has too much of it; absent: nobody is held up. */
  pressure?: Pressure;
  /** What this process counts; absent: nothing. */
  metrics?: Metrics;
  /** Follows work from process to process; absent: nothing does. */
  tracer?: Tracer;
  close(): Promise<void>;
}

/** An engine on a Redis, shared with every other process of its fleet. */
export interface FleetEngine extends Engine {
  kind: 'fleet';
  queue: BullWorkQueue;
  redisUrl: string;
  /** Over how many the fleet is spread; 1 to 64. */
  shards: number;
  /** Who looks on at the queues. */
  observers?: Observers;
  /** Hears of trouble on any connection of this process. */
  trouble: OutageListener;
}
