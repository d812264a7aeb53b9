import { createAggregator, type FleetEngine } from '../src/compose.js';
import { consumerDeps, type Role, startRole } from './lifecycle.js';
import { consumeShards, shareOf } from './shards.js';

/** Starts an aggregator: decides evaluations whose checks are through. */
export function startAggregator(engine: FleetEngine): Promise<Role> {
  const aggregator = createAggregator(engine);
  return startRole(engine, 'aggregator', async () => {
    const { consumeDecisions } = await import('../queues/consumers.js');
    const { concurrency } = engine.config.aggregator;
    const meter = engine.metrics?.recorder;
    const decide = async (chunk: string) => {
      const started = performance.now();
      await aggregator.decide(chunk);
      meter?.decide((performance.now() - started) / 1000);
    };
    const deps = consumerDeps(engine);
    const share = shareOf(concurrency, engine.shards);
    return consumeShards(engine, deps, (place) => consumeDecisions({ ...deps, place }, share, decide));
  });
}
