import { loadConfig } from '../../config/load.js';
import { type Config, configSchema } from '../../config/schema.js';
import { SluiceError } from '../core/problem.js';
import { ensurePrivateRedis } from '../embedded/private-redis.js';
import { CHILD_REDIS } from './executors.js';
import type { FleetOptions } from './options.js';

/** A Redis that a command may use, and how to let go of it. */
export interface RedisPlace {
  url: string;
  /** Where it is, without its password. */
  shown: string;
  isPrivate: boolean;
  release(): Promise<void>;
}

/** A Redis URL without the password that may stand in it. */
export function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//***@');
}

/** Settings with what the command line says on top. Throws INVALID_CONFIG. */
export function loadSettings(options: FleetOptions): Promise<Config> {
  const redis = process.env[CHILD_REDIS] || options.redis;
  return loadConfig(options.config, { fleet: options.fleet, redis });
}

/** Every default, for when the settings could not be read and only problems are looked for. */
export function defaultSettings(): Config {
  return configSchema.parse({});
}

/**
 * The Redis that was named (--redis, settings, REDIS_URL), else the private one of this folder,
 * started or joined (DESIGN 8, Embedded default); or why there is none. Throws IO when the private
 * one is there and does not start.
 */
export async function findRedis(config: Config): Promise<RedisPlace | { unavailable: string }> {
  const { redis } = config;
  if (redis !== undefined)
    return { url: redis, shown: withoutPassword(redis), isPrivate: false, release: async () => {} };
  const own = await ensurePrivateRedis({ env: process.env });
  if ('unavailable' in own) return own;
  const shown = `the private Redis of this folder (.sluice, port ${own.port})`;
  return { url: own.url, shown, isPrivate: true, release: () => own.release() };
}

/** As `findRedis`, for commands that are nothing without one. Throws USAGE when there is none. */
export async function requireRedis(config: Config): Promise<RedisPlace> {
  const place = await findRedis(config);
  if (!('unavailable' in place)) return place;
  throw new SluiceError(
    'USAGE',
    `No Redis is named (--redis, REDIS_URL or redis: in the settings), and there is no private one: ${place.unavailable}.`,
  );
}
