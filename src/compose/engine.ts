import type { Logger } from 'pino';
import type { Config } from '../../config/schema.js';
import type { BullWorkQueue } from '../../queues/work-queue.js';
import type { OutageListener } from '../app/outage.js';
import type { Clock } from '../ports/clock.js';
import type { WorkQueue } from '../ports/queue.js';
import type { Store } from '../ports/store.js';

/** What every face and worker is built from. */
export interface Engine {
  kind: 'fleet' | 'inline';
  config: Config;
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  log: Logger;
  close(): Promise<void>;
}

/** An engine on a Redis, shared with every other process of its fleet. */
export interface FleetEngine extends Engine {
  kind: 'fleet';
  queue: BullWorkQueue;
  redisUrl: string;
  /** Hears of trouble on any connection of this process. */
  trouble: OutageListener;
}
