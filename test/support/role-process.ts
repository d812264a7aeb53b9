/**
 * One process of a fleet for tests that kill processes: settings, Redis and roles come as JSON in
 * SLUICE_TEST_ROLE. Says "up" on its IPC channel, drains and exits 0 on SIGTERM. A pattern that
 * contains `killer` ends it by SIGKILL, as a check does that takes its worker along.
 */

import { consumePacks } from '../../queues/consumers.js';
import { Executor } from '../../src/app/execute.js';
import { openFleet } from '../../src/compose.js';
import { createMatcher } from '../../src/runners/pattern-matcher.js';
import { startAggregator } from '../../workers/aggregator.js';
import { consumerDeps, type Role, startRole, untilTold } from '../../workers/lifecycle.js';
import { consumeShards } from '../../workers/shards.js';
import { startSweeper } from '../../workers/sweeper.js';
import { configWith, type RoleProcessSettings, silent } from './fleet.js';

const { settings, url, roles } = JSON.parse(process.env.SLUICE_TEST_ROLE ?? '{}') as RoleProcessSettings;
const told = untilTold();
const engine = await openFleet(configWith(settings), url, silent);

const matcher = createMatcher({ deadlineMs: engine.config.patterns.deadline });
const starters = {
  aggregator: () => startAggregator(engine),
  sweeper: () => startSweeper(engine),
  worker: () =>
    startRole(engine, 'worker', (id) => {
      const { worker } = engine.config;
      const executor = new Executor({
        store: engine.store.evaluations,
        matcher: {
          matchAll(requests) {
            if (requests.some(({ pattern }) => pattern.includes('killer')))
              process.kill(process.pid, 'SIGKILL');
            return matcher.matchAll(requests);
          },
        },
        worker: id,
        poisonousAfter: worker.poisonous_after,
        serves: ['pure'],
        unserved: 'wait',
      });
      const concurrency = { pure: worker.concurrency, runner: worker.runner_concurrency };
      const deps = { ...consumerDeps(engine), tries: worker.tries };
      const routing = { hasRunners: false, standing: async () => ({ alive: 1, able: 0 }) };
      return consumeShards(engine, deps, (place) =>
        consumePacks({ ...deps, ...routing, place }, concurrency, (job) => executor.run(job)),
      );
    }),
};
const running: Role[] = [];
for (const role of roles) running.push(await starters[role]());
process.send?.('up');
await told;
await Promise.all(running.map((role) => role.stop()));
await engine.close();
if (process.connected) process.disconnect();
