import { consumePacks } from '../queues/consumers.js';
import { createExecutor, type FleetEngine } from '../src/compose.js';
import { consumerDeps, type Role, startRole } from './lifecycle.js';

/** Starts an executor: takes packs, runs their checks, records the results. */
export function startExecutor(engine: FleetEngine): Promise<Role> {
  const { worker } = engine.config;
  return startRole(engine, 'worker', (id) => {
    const executor = createExecutor(engine.store, engine.config, id);
    const concurrency = { pure: worker.concurrency, runner: worker.runner_concurrency };
    return consumePacks({ ...consumerDeps(engine), tries: worker.tries }, concurrency, (job) =>
      executor.run(job),
    );
  });
}
