import type { Redis } from 'ioredis';
import type { MemoryUse } from '../../core/pressure.js';

const field = (info: string, name: string): number =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);

/** How full this Redis is. */
export async function memoryOf(client: Redis): Promise<MemoryUse> {
  const info = await client.info('memory');
  return { used: field(info, 'used_memory'), limit: field(info, 'maxmemory') };
}
