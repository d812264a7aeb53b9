import { createAggregator, type FleetEngine } from '../src/compose.js';
import { consumerDeps, type Role, startRole } from './lifecycle.js';

/** Starts an aggregator: decides evaluations whose checks are through. */
export function startAggregator(engine: FleetEngine): Promise<Role> {
  const aggregator = createAggregator(engine);
  return startRole(engine, 'aggregator', async () => {
    const { consumeDecisions } = await import('../queues/consumers.js');
    const { concurrency } = engine.config.aggregator;
    const meter = engine.metrics?.recorder;
    return consumeDecisions(consumerDeps(engine), concurrency, async (chunk) => {
      const started = performance.now();
      await aggregator.decide(chunk);
      meter?.decide((performance.now() - started) / 1000);
    });
  });
}
