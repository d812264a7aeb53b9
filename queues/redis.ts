import { Redis } from 'ioredis';

/** For those who load it late: `import()` of a CommonJS package has no names in a bundle. */
export { Redis };

/** Where a fleet's queues are. */
export interface QueuePlace {
  url: string;
  fleet: string;
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
    retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 6), 2000),
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
  });
  client.on('error', onError);
  client.on('ready', () => onError.back?.());
  return client;
}
