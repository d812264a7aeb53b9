import { sweep } from '../src/app/sweep.js';
import { createAggregator, type FleetEngine, keeperOf, registryOf } from '../src/compose.js';
import { consumerDeps, type Role, startRole } from './lifecycle.js';

const CHUNKS_A_SWEEP = 200;
const FAILED_JOBS_KEPT_MS = 3_600_000;

/** Starts a sweeper: finds what is stuck and brings it to its decision. */
export function startSweeper(engine: FleetEngine): Promise<Role> {
  const { config, store, queue, clock, log, trouble: onError } = engine;
  const aggregator = createAggregator(engine);
  const keeper = keeperOf(engine);
  const registry = registryOf(engine);
  const settings = {
    checkAfterMs: config.sweeper.check_after,
    limit: CHUNKS_A_SWEEP,
    keepEventsMs: config.outbox.keep,
    keepEvents: config.outbox.keep_count,
    keep: config.retention,
  };
  return startRole(engine, 'sweeper', async () => {
    const { consumeSweeps } = await import('../queues/consumers.js');
    return consumeSweeps(consumerDeps(engine), config.sweeper.every, async () => {
      const report = await sweep({
        store,
        queue,
        clock,
        fleet: config.fleet,
        aggregator,
        keeper,
        registry,
        settings,
        onError,
      });
      await queue.removeFailed(FAILED_JOBS_KEPT_MS);
      if (report.requeued + report.overdue + report.completed + report.moved > 0)
        log.info({ report }, 'swept');
    });
  });
}
