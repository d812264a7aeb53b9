import type { Redis } from 'ioredis';
import type { CheckQueue, Turns } from '../src/core/fairness.js';
import { QUEUES, queuePrefix } from './names.js';

/** BullMQ keeps a priority and, behind it, a counter in one score. */
const COUNTER = 2 ** 32;

/** The lowest turns that wait in the queues of a fleet; nothing of a queue in which none does. */
export async function frontOf(connection: Redis, fleet: string, shards = 1): Promise<Turns> {
  const lowest = async (queue: CheckQueue, shard: number): Promise<number | undefined> => {
    const key = `${queuePrefix(fleet, shard)}:${QUEUES[queue]}:prioritized`;
    const score = (await connection.zrange(key, '0', '0', 'WITHSCORES'))[1];
    return score === undefined ? undefined : Math.floor(Number(score) / COUNTER);
  };
  const lowestOfAll = async (queue: CheckQueue): Promise<number | undefined> => {
    const all = await Promise.all(Array.from({ length: shards }, (_, shard) => lowest(queue, shard)));
    const known = all.filter((turn) => turn !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  const [pure, runner] = await Promise.all([lowestOfAll('pure'), lowestOfAll('runner')]);
  return { ...(pure === undefined ? {} : { pure }), ...(runner === undefined ? {} : { runner }) };
}
