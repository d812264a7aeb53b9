import { isoTime } from '../../core/iso-time.js';
import { MOST_SHARDS } from '../../core/shards.js';
import { openReshard, type ShardsReport } from '../../store/redis/reshard.js';
import { type FleetOptions, ProblemList, wholeNumber } from '../options.js';
import { print, printJson } from '../output.js';
import { loadSettings, requireRedis } from '../redis.js';

const count = (n: number, one: string): string => `${n} ${n === 1 ? one : `${one}s`}`;

/** What people read: how many shards, and what is left of another number. */
export function reshardText(fleet: string, { shards, former, left }: ShardsReport): string {
  const lines = [`Fleet "${fleet}" spreads new work over ${count(shards, 'shard')}.`];
  if (former.length === 0) return `${lines[0]}\n`;
  lines.push(`Work of the time with ${former.join(' and ')} is kept where it was, and is found there:`);
  for (const { shard, chunks, plans, batches, events, jobs, until } of left) {
    const parts = [
      chunks > 0 ? count(chunks, 'chunk') : '',
      plans > 0 ? count(plans, 'plan') : '',
      batches > 0 ? `${batches} ${batches === 1 ? 'batch' : 'batches'}` : '',
      events > 0 ? count(events, 'event') : '',
      jobs > 0 ? count(jobs, 'job') : '',
    ].filter((part) => part !== '');
    const when = until === null ? 'some still in use' : `gone by ${isoTime(until)} at the latest`;
    lines.push(`  shard ${shard}: ${parts.join(', ')}; ${when}`);
  }
  return `${lines.join('\n')}\n`;
}

/** `sluice reshard`: tells how many shards a fleet has, or gives it another number; answers 0. */
export async function reshardCommand(options: FleetOptions & { to?: string }): Promise<number> {
  const problems = new ProblemList();
  const to = wholeNumber('--to', options.to, 1, problems, MOST_SHARDS);
  const config = await problems.take(() => loadSettings(options));
  problems.throwIfAny('USAGE', 'nothing was changed.');
  if (config === undefined) throw new Error('the settings were not read');
  const place = await requireRedis(config, { create: false });
  try {
    const reshard = await openReshard(place.url, config.fleet);
    try {
      const report = await (to === undefined ? reshard.look() : reshard.change(to));
      if (options.json) await printJson({ fleet: config.fleet, ...report });
      else await print(reshardText(config.fleet, report));
    } finally {
      await reshard.close();
    }
  } finally {
    await place.release();
  }
  return 0;
}
