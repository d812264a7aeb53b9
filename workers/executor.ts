import type { Consumer } from '../queues/consumers.js';
import { inTime } from '../src/app/in-time.js';
import { livingWorkers } from '../src/app/living.js';
import {
  createExecutor,
  errorLogger,
  type FleetEngine,
  type OpenedRunners,
  openRunners,
} from '../src/compose.js';
import { Lanes } from '../src/core/lanes.js';
import type { Need } from '../src/core/registry/needs.js';
import { isServed, PURE, servedBy } from '../src/core/routing.js';
import type { Meter } from '../src/ports/meter.js';
import type { PackAnswer, PackJob } from '../src/ports/queue.js';
import { consumerDeps, type Role, startRole } from './lifecycle.js';
import { consumeShards, shareOf } from './shards.js';

/**
 * Flags of Node.js for a process that runs checks: they make many short-lived objects, and a larger
 * nursery (MiB) lets most of them die before they are ever moved.
 */
export const EXECUTOR_FLAGS = ['--max-semi-space-size=32'];

/** Milliseconds for the end of what tools keep, when draining has taken all that there was. */
const LEAST_CLOSE_MS = 1000;

/** Where no other worker comes, jobs of runners are taken in any case: as errors, by one that has none. */
const runnersAtATime = ({ runner_concurrency, unserved }: FleetEngine['config']['worker']): number =>
  unserved === 'error' ? Math.max(1, runner_concurrency) : runner_concurrency;

/** Counts a run of a pack, when it comes to an end of its own. */
async function countedPack(
  meter: Meter,
  { pack: { queue, from, to } }: PackJob,
  run: () => Promise<PackAnswer>,
): Promise<PackAnswer> {
  const started = performance.now();
  const answer = await run();
  meter.pack(queue, answer.kind, (performance.now() - started) / 1000, to - from);
  return answer;
}

async function open(engine: FleetEngine, id: string, runners: OpenedRunners): Promise<Consumer> {
  const { consumePacks } = await import('../queues/consumers.js');
  const { config, store, clock, log, trouble } = engine;
  const { worker } = config;
  const meter = engine.metrics?.recorder;
  const executor = createExecutor(store, config, id, runners, errorLogger(log), meter);
  let inHand = 0;
  const run = async (job: PackJob) => {
    inHand += 1;
    try {
      return await executor.run(job);
    } finally {
      inHand -= 1;
    }
  };
  const deps = {
    ...consumerDeps(engine),
    tries: worker.tries,
    hasRunners: runners.serves.some((need) => need !== PURE),
    async standing(needs: readonly Need[]) {
      const workers = await livingWorkers(store, clock);
      return {
        alive: workers.length,
        able: workers.filter(({ serves }) => isServed(needs, [serves])).length,
      };
    },
  };
  const counted = (job: PackJob) =>
    meter === undefined ? run(job) : countedPack(meter, job, () => run(job));
  const { shards } = engine;
  const runnersAtOnce = runnersAtATime(worker);
  const atATime = { pure: shareOf(worker.concurrency, shards), runner: shareOf(runnersAtOnce, shards) };
  // The shares may add up to more than may run.
  const lanes = new Lanes(runnersAtOnce);
  const inLane = (job: PackJob) =>
    shards > 1 && job.pack.queue === 'runner' ? lanes.run(() => counted(job)) : counted(job);
  const consumer = consumeShards(engine, deps, (place) => consumePacks({ ...deps, place }, atATime, inLane));
  return {
    ...consumer,
    inHand: () => inHand,
    async drain(deadlineMs) {
      const started = Date.now();
      await consumer.drain(deadlineMs);
      const left = Math.max(LEAST_CLOSE_MS, deadlineMs - (Date.now() - started));
      await inTime(executor.close().catch(trouble), left, () => {});
    },
  };
}

/** Starts an executor: takes packs, runs their checks, records the results. `given`: runners that are open. */
export async function startExecutor(engine: FleetEngine, given?: OpenedRunners): Promise<Role> {
  const runners = given ?? (await openRunners(engine.config));
  const served = servedBy(runners, engine.config.worker.runner_concurrency);
  return startRole(engine, 'worker', (id) => open(engine, id, runners), served);
}
