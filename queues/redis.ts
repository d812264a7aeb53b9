import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { growingPauses } from '../src/core/backoff.js';
import { clusterOptions } from '../src/core/cluster-options.js';
import { writeOnceATurn } from '../src/core/one-write.js';

/** Where queues of a fleet are. */
export interface QueuePlace {
  url: string;
  fleet: string;
  /** From 0, the home of what the fleet has once; absent: 0. */
  shard?: number;
}

/** Hears of a connection's errors, and, where it wants to, that the connection stands (again). */
export interface ConnectionListener {
  (error: Error): void;
  back?(): void;
}

/** A client of one Redis, or of a cluster, which takes the same commands as long as their keys are of one slot. */
export function newRedis(url: string, options: Omit<RedisOptions, 'replyMapping'>): Redis {
  const cluster = clusterOptions(url, options);
  if (cluster === undefined) return new Redis(url, options);
  return new Cluster(cluster.nodes, cluster.options) as unknown as Redis;
}

/** A connection as BullMQ needs it: patient, and away from a primary that became a replica. */
export function connect(url: string, onError: ConnectionListener = () => {}): Redis {
  const client = newRedis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: growingPauses(2000),
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
  });
  writeOnceATurn(client, process.nextTick);
  client.on('error', onError);
  client.on('ready', () => onError.back?.());
  return client;
}
