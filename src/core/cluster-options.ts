import { clusterPlace } from './redis-url.js';

/** What of the options of one Redis is about a cluster as a whole. */
interface ClientOptions {
  maxRetriesPerRequest?: number | null | undefined;
  retryStrategy?: unknown;
  lazyConnect?: boolean | undefined;
  enableOfflineQueue?: boolean | undefined;
}

/** Redirections and repeats of one command: as patient as with one Redis that is away. */
const MOST_REDIRECTIONS = 100_000;

/** Nodes and options of a client of a cluster, from those of a client of one Redis; undefined: the address is one Redis. */
export function clusterOptions<O extends ClientOptions>(url: string, options: O) {
  const place = clusterPlace(url);
  if (place === undefined) return undefined;
  const { nodes, tls, ...login } = place;
  const { retryStrategy, lazyConnect = false, enableOfflineQueue = true, ...redisOptions } = options;
  return {
    nodes,
    options: {
      lazyConnect,
      enableOfflineQueue,
      maxRedirections: options.maxRetriesPerRequest === null ? MOST_REDIRECTIONS : 1,
      ...(retryStrategy ? { clusterRetryStrategy: retryStrategy as NonNullable<O['retryStrategy']> } : {}),
      redisOptions: { ...redisOptions, ...login, ...(tls ? { tls: {} } : {}) },
    },
  };
}
