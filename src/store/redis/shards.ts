import { SluiceError } from '../../core/problem.js';
import { keyPrefix } from './client.js';
import type { Scripts } from './scripts.js';

/** Over how many shards a fleet is spread, and was before. */
export interface ShardsMark {
  shards: number;
  /** Numbers that it had before, as long as something of that time is kept. */
  former: number[];
}

/** How many shards there are in all: those of the past are worked and read as long as they hold anything. */
export const countOf = ({ shards, former }: ShardsMark): number => Math.max(shards, ...former);

/** What the fleet has. One that has nothing yet gets `wanted`; absent: one, until somebody begins to work. */
export async function markShards(scripts: Scripts, fleet: string, wanted?: number): Promise<ShardsMark> {
  const [shards, former] = (await scripts['mark-shards'](keyPrefix(fleet), wanted ?? '')) as [string, string];
  return { shards: Number(shards), former: former === '' ? [] : former.split(',').map(Number) };
}

/** Shards of the fleet to work with. Throws SHARDS_CHANGED. */
export async function claimShards(
  scripts: Scripts,
  fleet: string,
  wanted: number | undefined,
): Promise<ShardsMark> {
  const mark = await markShards(scripts, fleet, wanted ?? 1);
  const { shards } = mark;
  if (wanted === undefined || wanted === shards) return mark;
  throw new SluiceError(
    'SHARDS_CHANGED',
    `Fleet "${fleet}" has ${shards} ${shards === 1 ? 'shard' : 'shards'}, and the settings say shards: ${wanted}. Stop its processes and run "sluice reshard --to ${wanted}" (docs/operations.md#resharding), or set shards: ${shards}.`,
  );
}
