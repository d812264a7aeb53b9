import { consumePacks } from '../queues/consumers.js';
import { createExecutor, type FleetEngine, openRunners } from '../src/compose.js';
import { consumerDeps, type Role, startRole } from './lifecycle.js';

/**
 * Flags of Node.js for a process that runs checks: they make many short-lived objects, and a larger
 * nursery (MiB) lets most of them die before they are ever moved.
 */
export const EXECUTOR_FLAGS = ['--max-semi-space-size=32'];

/** Starts an executor: takes packs, runs their checks, records the results. */
export async function startExecutor(engine: FleetEngine): Promise<Role> {
  const { worker } = engine.config;
  const runners = await openRunners(engine.config);
  return startRole(engine, 'worker', (id) => {
    const executor = createExecutor(engine.store, engine.config, id, runners);
    const concurrency = { pure: worker.concurrency, runner: worker.runner_concurrency };
    return consumePacks({ ...consumerDeps(engine), tries: worker.tries }, concurrency, (job) =>
      executor.run(job),
    );
  });
}
