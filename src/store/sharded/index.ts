import type { Store } from '../../ports/store.js';
import { ShardedBatches } from './batches.js';
import { ShardedEvaluations } from './evaluations.js';
import { ShardedOutbox } from './outbox.js';
import { ShardedPlans } from './plans.js';
import { ShardedRetention } from './retention.js';
import { Shards } from './shards.js';
import { ShardedUnserved } from './unserved.js';

/**
 * Several stores as one: evaluations, plans and their events are spread over all of them; the registry, roles,
 * tokens, sinks and dead letters are in the first. One store is taken as it is. New work
 * goes to the first `spread` of them; `former`: numbers over which it was spread before.
 */
export function shardedStore(
  stores: readonly Store[],
  spread = stores.length,
  former: readonly number[] = [],
): Store {
  const shards = new Shards(stores, spread, former);
  const { home } = shards;
  if (shards.count === 1) return home;
  const batches = new ShardedBatches(shards);
  return {
    shards: shards.count,
    spread,
    batches,
    evaluations: new ShardedEvaluations(shards, batches),
    retention: new ShardedRetention(shards),
    outbox: new ShardedOutbox(shards),
    plans: new ShardedPlans(shards),
    unserved: new ShardedUnserved(shards),
    registry: home.registry,
    roster: home.roster,
    letters: home.letters,
    sinks: home.sinks,
    tokens: home.tokens,
    limits: home.limits,
    // Its Redis, or its cluster, is that of all.
    ...(home.memory === undefined ? {} : { memory: home.memory }),
    durable: stores.every(({ durable }) => durable),
    async close() {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}
