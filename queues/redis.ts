import { Redis } from 'ioredis';
import { growingPauses } from '../src/core/backoff.js';

/** For those who load it late: `import()` of a CommonJS package has no names in a bundle. */
export { Redis };

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

/** A connection as BullMQ needs it: patient, and away from a primary that became a replica. */
export function connect(url: string, onError: ConnectionListener = () => {}): Redis {
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: growingPauses(2000),
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
  });
  client.on('error', onError);
  client.on('ready', () => onError.back?.());
  return client;
}
