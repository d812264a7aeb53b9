import type { Consumer, ConsumerDeps } from '../queues/consumers.js';
import { BEAT_MS } from '../src/app/living.js';
import { type FleetEngine, processName } from '../src/compose.js';
import { SluiceError } from '../src/core/problem.js';
import type { Served } from '../src/core/routing.js';
import type { RoleName } from '../src/ports/store.js';

export { DEAD_AFTER_MS } from '../src/app/living.js';

/** A role that runs in this process. */
export interface Role {
  name: RoleName;
  id: string;
  /** Pieces of work that it has in hand; absent: nobody knows. */
  inHand?(): number;
  /** Takes nothing new, finishes what it has in hand until the configured deadline, and leaves. */
  stop(): Promise<void>;
}

/** What a role's consumers are opened with. */
export function consumerDeps({ config, redisUrl, trouble, observers }: FleetEngine): ConsumerDeps {
  return {
    place: { url: redisUrl, fleet: config.fleet },
    stall: {
      lockMs: config.worker.lock,
      stalledIntervalMs: config.worker.stalled_interval,
      maxStalls: config.worker.max_stalls,
    },
    onError: trouble,
    ...observers,
  };
}

/** Gives a role its heartbeat and its orderly end; `served`: what a worker can run, for its heartbeat and the log. */
export async function startRole(
  engine: FleetEngine,
  name: RoleName,
  open: (id: string) => Promise<Consumer> | Consumer,
  served?: Served,
): Promise<Role> {
  const { store, clock, config, log, trouble } = engine;
  const id = processName();
  const consumer = await open(id);
  const beat = () => store.roster.beat(name, id, clock.now(), served?.serves).catch(trouble);
  await beat();
  const timer = setInterval(beat, BEAT_MS);
  log.info({ role: name, id, fleet: config.fleet, ...served }, `${name} is up`);
  await consumer.begin?.().catch(trouble);
  const inHand = consumer.inHand?.bind(consumer);
  return {
    name,
    id,
    ...(inHand === undefined ? {} : { inHand }),
    async stop() {
      clearInterval(timer);
      await consumer.drain(config.worker.drain);
      await Promise.race([
        store.roster.leave(name, id).catch(trouble),
        new Promise((resolve) => setTimeout(resolve, 1000).unref()),
      ]);
      log.info({ role: name, id }, `${name} has stopped`);
    },
  };
}

/** Resolves when this process is told to end: SIGTERM, SIGINT, or the parent that started it is gone. */
export function untilTold(): Promise<string> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve('SIGTERM'));
    process.once('SIGINT', () => resolve('SIGINT'));
    process.once('disconnect', () => resolve('the parent process is gone'));
  });
}

/** Says of which part it is when a part cannot be opened. */
export async function named<T>(what: string, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    throw new SluiceError(error.code, `The ${what}: ${error.message}`, error.problems);
  }
}
