import type { Redis } from 'ioredis';
import { unwrap } from '../../core/pipeline.js';
import type { Figures, FleetFigures } from '../../ports/figures.js';
import { keyPrefix, redisOptions } from './client.js';
import { newClient } from './cluster.js';
import { memoryOf } from './memory.js';

/** Sinks that are looked at; what there is beyond them is not shown. */
const MOST_SINKS = 200;
/** Milliseconds in which Redis must answer. */
const ANSWER_MS = 1500;

interface Group {
  name: string;
  pending: number;
  lastDelivered: string;
}

const timeOf = (position: unknown): number[] =>
  typeof position === 'string' ? [Number(position.split('-')[0])] : [];

function groupsOf(reply: unknown): Group[] {
  if (!Array.isArray(reply)) return [];
  const groups = (reply as unknown[][]).map((fields) => {
    const at = (name: string) => fields[fields.indexOf(name) + 1];
    return {
      name: String(at('name')),
      pending: Number(at('pending')),
      lastDelivered: String(at('last-delivered-id')),
    };
  });
  return groups.slice(0, MOST_SINKS);
}

interface ShardFigures {
  open: number;
  entries: number;
  /** By sink; undefined: it has taken all. */
  oldest: Map<string, number | undefined>;
}

/** The oldest of what a sink has not claimed, has claimed, and has been handed without taking it. */
async function oldestOf(
  client: Redis,
  prefix: string,
  groups: readonly Group[],
): Promise<Map<string, number | undefined>> {
  const asking = client.pipeline();
  for (const { name, lastDelivered } of groups) {
    asking.xrange(`${prefix}outbox`, `(${lastDelivered}`, '+', 'COUNT', 1);
    asking.xpending(`${prefix}outbox`, name);
    asking.zrange(`${prefix}held:${name}`, '0', '0');
  }
  const replies = unwrap(await asking.exec());
  return new Map(
    groups.map(({ name }, n) => {
      const [unclaimed, pending, held] = replies.slice(n * 3, n * 3 + 3) as [[string][], unknown[], string[]];
      const times = [...timeOf(unclaimed[0]?.[0]), ...timeOf(pending[1]), ...timeOf(held[0])];
      return [name, times.length === 0 ? undefined : Math.min(...times)];
    }),
  );
}

async function readShard(client: Redis, prefix: string): Promise<ShardFigures> {
  const asking = client.pipeline().zcard(`${prefix}open`).xlen(`${prefix}outbox`);
  const [open, entries] = unwrap(await asking.exec()) as [number, number];
  // Of a stream that is not there yet Redis makes an error.
  const groups = groupsOf(await client.xinfo('GROUPS', `${prefix}outbox`).catch(() => []));
  return { open, entries, oldest: groups.length === 0 ? new Map() : await oldestOf(client, prefix, groups) };
}

/** Over all shards: a sink is as far behind as in the shard where it is farthest. */
function together(shards: readonly ShardFigures[]): Omit<FleetFigures, 'memory'> {
  const undelivered = new Map<string, number | undefined>();
  for (const { oldest } of shards)
    for (const [sink, since] of oldest) {
      const known = undelivered.get(sink);
      undelivered.set(sink, known === undefined || (since !== undefined && since < known) ? since : known);
    }
  return {
    openChunks: shards.reduce((sum, { open }) => sum + open, 0),
    outbox: shards.map(({ entries }, shard) => ({ shard, entries })),
    undelivered: [...undelivered].map(([sink, since]) => ({ sink, since })),
  };
}

/**
 * Reads how a fleet stands over a connection of its own, which gives up soon when Redis is away: who looks
 * must not wait with the work. `shards`: how many the fleet has.
 */
export function openFigures(url: string, fleet: string, shards = 1): Figures {
  const client = newClient(url, {
    ...redisOptions,
    lazyConnect: true,
    enableOfflineQueue: true,
    maxRetriesPerRequest: 0,
    commandTimeout: ANSWER_MS,
  });
  client.on('error', () => {});
  return {
    async read() {
      const prefixes = Array.from({ length: shards }, (_, shard) => keyPrefix(fleet, shard));
      const found = await Promise.all(prefixes.map((prefix) => readShard(client, prefix)));
      // A cluster names its masters once it is connected.
      const { used, limit } = await memoryOf(client);
      return { ...together(found), memory: { used, max: limit } };
    },
    close() {
      client.disconnect();
    },
  };
}
