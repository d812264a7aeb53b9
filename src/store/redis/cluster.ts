import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { clusterPlace } from '../../core/redis-url.js';

/** Redirections and repeats of one command: as patient as with one Redis that is away. */
const MOST_REDIRECTIONS = 100_000;

/** A client of one Redis, or of a cluster, which takes the same commands as long as their keys are of one slot. */
export function newClient(url: string, options: Omit<RedisOptions, 'replyMapping'>): Redis {
  const place = clusterPlace(url);
  if (place === undefined) return new Redis(url, options);
  const { nodes, tls, ...login } = place;
  const { retryStrategy, lazyConnect = false, enableOfflineQueue = true, ...redisOptions } = options;
  const cluster = new Cluster(nodes, {
    lazyConnect,
    enableOfflineQueue,
    maxRedirections: options.maxRetriesPerRequest === null ? MOST_REDIRECTIONS : 1,
    ...(retryStrategy === undefined ? {} : { clusterRetryStrategy: retryStrategy }),
    redisOptions: { ...redisOptions, ...login, ...(tls ? { tls: {} } : {}) },
  });
  return cluster as unknown as Redis;
}
