import { SluiceError } from '../../core/problem.js';
import { keyPrefix } from './client.js';
import type { Scripts } from './scripts.js';

/** How many shards a fleet has, or how many it is being given. */
export interface ShardsMark {
  shards: number;
  /** The number that an unfinished reshard is on its way to; undefined: there is none. */
  target: number | undefined;
}

/** What the fleet has; one that has nothing yet gets `wanted`. */
export async function markShards(scripts: Scripts, fleet: string, wanted = 1): Promise<ShardsMark> {
  const [shards, target] = (await scripts['mark-shards'](keyPrefix(fleet), wanted)) as [string, string];
  return { shards: Number(shards), target: target === '' ? undefined : Number(target) };
}

/** Shards of the fleet to work with. Throws SHARDS_CHANGED. */
export async function claimShards(
  scripts: Scripts,
  fleet: string,
  wanted: number | undefined,
): Promise<number> {
  const { shards, target } = await markShards(scripts, fleet, wanted);
  if (target !== undefined) {
    throw new SluiceError(
      'SHARDS_CHANGED',
      `Fleet "${fleet}" is on its way to ${target} shards, and that has not ended. Run "sluice reshard --to ${target}" again; docs/operations.md#resharding has more.`,
    );
  }
  if (wanted === undefined || wanted === shards) return shards;
  throw new SluiceError(
    'SHARDS_CHANGED',
    `Fleet "${fleet}" has ${shards} ${shards === 1 ? 'shard' : 'shards'}, and the settings say shards: ${wanted}. Stop its processes and run "sluice reshard --to ${wanted}" (docs/operations.md#resharding), or set shards: ${shards}.`,
  );
}
