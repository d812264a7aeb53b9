import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.js';
import { type Config, configSchema } from '../../config/schema.js';
import { type Problem, SluiceError } from '../core/problem.js';
import { redisUrlProblem, withoutPassword } from '../core/redis-url.js';
import { ensurePrivateRedis } from '../embedded/private-redis.js';
import { CHILD_REDIS } from './child-redis.js';
import { type FleetOptions, ProblemList } from './options.js';

const CONFIG_REFUSED = 'the settings cannot be used.';

/** A Redis that a command may use, and how to let go of it. */
export interface RedisPlace {
  url: string;
  /** Where it is, without its password. */
  shown: string;
  isPrivate: boolean;
  release(): Promise<void>;
  /** Resolves when a private one has ended; nobody brings it back while this process runs. */
  lost?: Promise<void>;
}

/** Where the address of Redis was given. */
function placeOfRedis(options: FleetOptions, redis: string): Pick<Problem, 'file' | 'path'> {
  if (options.redis === redis || process.env[CHILD_REDIS] === redis) return { path: '--redis' };
  if (process.env.REDIS_URL === redis) return { path: 'REDIS_URL' };
  const file = options.config ?? process.env.SLUICE_CONFIG;
  return file === undefined ? { path: 'redis' } : { file, path: 'redis' };
}

/** A refusal of which every problem has a code: its own, or that of the whole. */
function withCodes(error: unknown): unknown {
  if (!(error instanceof SluiceError)) return error;
  const { code, message, problems } = error;
  return new SluiceError(
    code,
    message,
    problems.map((problem) => ({ code, ...problem })),
  );
}

/**
 * Settings with what the command line says on top. Throws INVALID_CONFIG, or USAGE when a Redis that
 * would be used is named by something that is no URL.
 */
export async function loadSettings(options: FleetOptions & { engine?: string }): Promise<Config> {
  const named = process.env[CHILD_REDIS] || options.redis;
  const problems = new ProblemList();
  const config = await problems.take(async () => {
    try {
      return await loadConfig(options.config, { fleet: options.fleet, redis: named });
    } catch (error) {
      throw withCodes(error);
    }
  });
  const redis = named ?? config?.redis;
  const isUsed = redis !== undefined && options.engine !== 'inline';
  const problem = isUsed ? redisUrlProblem(placeOfRedis(options, redis), redis) : undefined;
  if (problem !== undefined) problems.add({ code: 'USAGE', ...problem });
  problems.throwIfAny(
    'USAGE',
    config === undefined ? CONFIG_REFUSED : 'the address of Redis cannot be used.',
  );
  return config as Config;
}

/** Every default, for when the settings could not be read and only problems are looked for. */
export function defaultSettings(): Config {
  return configSchema.parse({});
}

/** Where a private Redis keeps its data. */
export const DATA_FOLDER = '.sluice';

/**
 * The Redis that was named (--redis, settings, REDIS_URL), else the private one of this folder,
 * started or joined (DESIGN 8, Embedded default); or why there is none. Throws IO when the private
 * one is there and does not start.
 */
export async function findRedis(config: Config): Promise<RedisPlace | { unavailable: string }> {
  const { redis } = config;
  if (redis !== undefined)
    return { url: redis, shown: withoutPassword(redis), isPrivate: false, release: async () => {} };
  const own = await ensurePrivateRedis({ dir: DATA_FOLDER, env: process.env });
  if ('unavailable' in own) return own;
  const shown = `the private Redis of this folder (.sluice, port ${own.port})`;
  return { url: own.url, shown, isPrivate: true, release: () => own.release(), lost: own.lost };
}

const none = (reason: string) =>
  new SluiceError(
    'REDIS_UNREACHABLE',
    `No Redis is named (--redis, REDIS_URL or redis: in the settings), and ${reason}.`,
  );

/**
 * As `findRedis`, for commands that are nothing without one. Throws REDIS_UNREACHABLE when there is
 * none. `create: false`: a private one that this folder never had is not made.
 */
export async function requireRedis(config: Config, options = { create: true }): Promise<RedisPlace> {
  if (!options.create && config.redis === undefined && !existsSync(join(DATA_FOLDER, 'redis')))
    throw none('this folder has no private one (.sluice), so that there is nothing to read');
  const place = await findRedis(config);
  if ('unavailable' in place) throw none(`there cannot be a private one: ${place.unavailable}`);
  return place;
}
