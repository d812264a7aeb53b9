import type { Redis } from 'ioredis';
import type { Scripts } from './scripts.js';

/** What the parts of the Redis store share. */
export interface RedisContext {
  /** For commands that answer at once. */
  client: Redis;
  /** A connection of its own for commands that wait, made on first use. */
  waiting: (purpose: string) => Redis;
  /** Runs a command that waits, on a connection that nobody else uses meanwhile; a few stay for the next. */
  whileWaiting: <T>(run: (client: Redis) => Promise<T>) => Promise<T>;
  scripts: Scripts;
  prefix: string;
  /** Entries of the outbox above which nothing more is accepted. */
  outboxCap: number;
}
