import { idFrom } from './digest.js';

/** Most shards of one fleet. */
export const MOST_SHARDS = 64;

/** Leading characters of an id that say in which shard it lives; a dash ends them. */
const ROUTE = 6;

/**
 * The shard of an evaluation or chunk, from 0 to `shards` - 1: a function of its id alone. A chunk has the id
 * of its first evaluation, and all its evaluations are of one shard.
 */
export function shardOf(id: string, shards: number): number {
  if (shards === 1) return 0;
  // FNV-1a: ids are digests already, all but those that people make up.
  let hash = 0x811c9dc5;
  for (let i = 0; i < ROUTE && i < id.length && id[i] !== '-'; i += 1)
    hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 16;
  return (hash >>> 0) % shards;
}

const routeOfPlan = (plan: string): string => idFrom('plan', plan).slice(0, ROUTE);

/** The shard of a plan, its evaluations and their events. */
export function shardOfPlan(plan: string, shards: number): number {
  return shards === 1 ? 0 : shardOf(routeOfPlan(plan), shards);
}

/** Id of an evaluation of a plan: 26 characters, in the plan's shard however many shards there are. */
export function planEvaluationId(plan: string, ...parts: string[]): string {
  const own = idFrom('plan-evaluation', plan, ...parts);
  return routeOfPlan(plan) + own.slice(ROUTE);
}
