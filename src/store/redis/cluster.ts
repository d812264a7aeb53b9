import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { clusterOptions } from '../../core/cluster-options.js';

/** A client of one Redis, or of a cluster, which takes the same commands as long as their keys are of one slot. */
export function newClient(url: string, options: Omit<RedisOptions, 'replyMapping'>): Redis {
  const cluster = clusterOptions(url, options);
  if (cluster === undefined) return new Redis(url, options);
  return new Cluster(cluster.nodes, cluster.options) as unknown as Redis;
}
