import type { Redis } from 'ioredis';
import type { MemoryUse } from '../../core/pressure.js';
import { mastersOf } from './client.js';

const field = (info: string, name: string): number =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);

const shareOf = ({ used, limit }: MemoryUse): number => (limit === 0 ? 0 : used / limit);

/** How full this Redis is; of a cluster the fullest of its masters. */
export async function memoryOf(client: Redis): Promise<MemoryUse> {
  const infos = await Promise.all(mastersOf(client).map((master) => master.info('memory')));
  const found = infos.map((info) => ({ used: field(info, 'used_memory'), limit: field(info, 'maxmemory') }));
  found.sort((a, b) => shareOf(b) - shareOf(a) || b.used - a.used);
  return found[0] ?? { used: 0, limit: 0 };
}
