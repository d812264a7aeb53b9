import type { MemoryUse } from '../../core/pressure.js';
import type { Store } from '../../ports/store.js';
import { ShardedBatches } from './batches.js';
import { ShardedEvaluations } from './evaluations.js';
import { ShardedOutbox } from './outbox.js';
import { ShardedPlans } from './plans.js';
import { ShardedRetention } from './retention.js';
import { Shards } from './shards.js';
import { ShardedUnserved } from './unserved.js';

const shareOf = ({ used, limit }: MemoryUse): number => (limit === 0 ? 0 : used / limit);

/** The one with the largest share of its limit in use; of those without a limit the largest. */
function fullest(found: readonly (MemoryUse | undefined)[]): MemoryUse {
  const known = found.filter((each) => each !== undefined);
  known.sort((a, b) => shareOf(b) - shareOf(a) || b.used - a.used);
  return known[0] ?? { used: 0, limit: 0 };
}

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
    memory: async () => fullest(await shards.each(async (store) => store.memory?.())),
    durable: stores.every(({ durable }) => durable),
    async close() {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}
