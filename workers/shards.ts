import type { Consumer, ConsumerDeps } from '../queues/consumers.js';
import type { FleetEngine } from '../src/compose.js';

/** What one shard gets of what a process does at a time: at least 1, where there is any. */
export const shareOf = (atATime: number, shards: number): number => Math.ceil(atATime / shards);

/** Consumes the queues of every shard of a fleet. */
export function consumeShards(
  { shards }: Pick<FleetEngine, 'shards'>,
  deps: ConsumerDeps,
  consume: (place: ConsumerDeps['place'], shard: number) => Consumer,
): Consumer {
  if (shards === 1) return consume(deps.place, 0);
  const consumers = Array.from({ length: shards }, (_, shard) => consume({ ...deps.place, shard }, shard));
  return {
    async begin() {
      await Promise.all(consumers.map((consumer) => consumer.begin?.()));
    },
    async drain(deadlineMs) {
      await Promise.all(consumers.map((consumer) => consumer.drain(deadlineMs)));
    },
  };
}
