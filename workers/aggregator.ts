import { consumeDecisions } from '../queues/consumers.js';
import { createAggregator, type FleetEngine } from '../src/compose.js';
import { consumerDeps, type Role, startRole } from './lifecycle.js';

/** Starts an aggregator: decides evaluations whose checks are through. */
export function startAggregator(engine: FleetEngine): Promise<Role> {
  const aggregator = createAggregator(engine);
  return startRole(engine, 'aggregator', () =>
    consumeDecisions(consumerDeps(engine), engine.config.aggregator.concurrency, (chunk) =>
      aggregator.decide(chunk),
    ),
  );
}
