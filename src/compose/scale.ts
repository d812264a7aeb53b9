import type { Config } from '../../config/schema.js';
import { BullBacklog } from '../../queues/backlog.js';
import { ScaleAnswers } from '../app/scale/answers.js';
import { ScaleWatch } from '../app/scale/watch.js';
import type { ScalePolicy } from '../core/autoscale/target.js';
import type { Backlog } from '../ports/backlog.js';
import type { Engine, FleetEngine } from './engine.js';

/** Most workers that anybody may ask for. */
export const MOST_WORKERS = 1024;

/** When there are more workers, and when fewer, by the settings. */
export function timesOf({ autoscale }: Config): Pick<ScalePolicy, 'idleMs' | 'targetAgeMs'> {
  return { idleMs: autoscale.idle, targetAgeMs: autoscale.target_age };
}

/** What waits in the queues of a fleet; to be closed. */
export function openBacklog({ config, redisUrl, store, trouble }: FleetEngine): Backlog {
  return new BullBacklog({ url: redisUrl, fleet: config.fleet, shards: store.shards ?? 1 }, trouble);
}

const isFleet = (engine: Engine): engine is FleetEngine => engine.kind === 'fleet';

/**
 * How many workers the fleet of this engine wants. Nothing is opened before it is first asked, and what is
 * open ends with `ended`. The inline engine is its own worker.
 */
export function scaleOf(engine: Engine, ended: AbortSignal): Pick<ScaleAnswers, 'answer'> {
  const { store, clock, config } = engine;
  const times = timesOf(config);
  let watch: ScaleWatch | undefined;
  const open = (fleet: FleetEngine): ScaleWatch => {
    const backlog = openBacklog(fleet);
    ended.addEventListener('abort', () => void backlog.close(), { once: true });
    return new ScaleWatch({ backlog, roster: store.roster, clock }, times.idleMs);
  };
  return new ScaleAnswers(
    async () => {
      if (!isFleet(engine) || ended.aborted) throw new Error('nobody is to be asked');
      watch ??= open(engine);
      return watch.look();
    },
    clock,
    times,
  );
}
