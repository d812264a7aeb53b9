import type { Logger } from 'pino';
import type { Config } from '../../config/schema.js';
import type { OutageListener } from '../app/outage.js';
import { Pressure } from '../app/pressure.js';
import type { Load } from '../core/pressure.js';
import type { Backlog } from '../ports/backlog.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';

/** What holding up producers takes of a fleet. */
interface PressureParts {
  config: Config;
  store: Pick<Store, 'memory' | 'shards'>;
  redisUrl: string;
  clock: Clock;
  log: Logger;
  trouble: OutageListener;
}

/** Marks of the settings, held against the fleet; looks at nothing before the first work comes. */
export function openPressure(parts: PressureParts): { pressure: Pressure; close(): Promise<void> } {
  const { config, store, redisUrl, clock, log, trouble } = parts;
  const { redis_memory: memoryMark, backlog: backlogMark } = config.backpressure;
  let backlog: Promise<Backlog> | undefined;
  const open = async () => {
    const { BullBacklog } = await import('../../queues/backlog.js');
    const { shards = 1 } = store;
    return new BullBacklog({ url: redisUrl, fleet: config.fleet, shards }, trouble);
  };
  const readWaiting = async () => {
    backlog ??= open();
    return (await (await backlog).read()).reduce((sum, { waiting }) => sum + waiting, 0);
  };
  const read = async (): Promise<Load> => {
    const [memory, waiting] = await Promise.all([
      memoryMark === undefined ? undefined : store.memory?.(),
      backlogMark === 'off' ? undefined : readWaiting(),
    ]);
    return { ...(memory === undefined ? {} : { memory }), ...(waiting === undefined ? {} : { waiting }) };
  };
  const marks = {
    ...(memoryMark === undefined ? {} : { memory: memoryMark }),
    ...(backlogMark === 'off' ? {} : { waiting: backlogMark }),
  };
  const teller = {
    waits: (reason: string) => log.warn(`new work waits: ${reason}`),
    goesOn: () => log.warn('new work goes on'),
  };
  return {
    pressure: new Pressure({ read, marks, clock, teller }),
    async close() {
      await backlog?.then((opened) => opened.close());
    },
  };
}
