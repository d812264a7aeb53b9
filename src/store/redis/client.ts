import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { growingPauses } from '../../core/backoff.js';
import { writeOnceATurn } from '../../core/one-write.js';
import { SluiceError } from '../../core/problem.js';
import { clusterPlace, withoutPassword } from '../../core/redis-url.js';
import { newClient } from './cluster.js';

/** Prefix of every key of a fleet on one shard, 0 being its home; the hash tag keeps it on one node of a cluster. */
export function keyPrefix(fleet: string, shard = 0): string {
  return `${fleet}:{${shard}}:`;
}

/** How connections behave: patient with outages, impatient with a primary that became a replica. */
export const redisOptions = {
  maxRetriesPerRequest: null,
  enableReadyCheck: true,
  retryStrategy: growingPauses(2000),
  reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
} satisfies RedisOptions;

function unreachable(url: string, reason: string): SluiceError {
  const shown = withoutPassword(url);
  const locked = /^(?:NOAUTH|WRONGPASS|NOPERM)/.test(reason);
  const message = locked
    ? `Redis at ${shown} wants a user and password that it accepts: redis://USER:PASSWORD@HOST:PORT.`
    : `Redis at ${shown} cannot be reached: ${reason}. Start it, or give another address with --redis or REDIS_URL.`;
  return new SluiceError('REDIS_UNREACHABLE', message);
}

const databaseOf = (url: URL): string => url.pathname.replace(/^\//, '');

/** Each Redis that a client speaks to: the masters of a cluster, or the one. */
export function mastersOf(client: Redis): Redis[] {
  const cluster = client as unknown as Cluster;
  return cluster.isCluster ? cluster.nodes('master') : [client];
}

function checkUrl(url: string): void {
  if (clusterPlace(url) !== undefined) return;
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new SluiceError(
      'USAGE',
      `"${url}" is not a Redis URL; expected redis://host:port or rediss://host:port.`,
    );
  }
  if (parsed.protocol !== 'redis:' && parsed.protocol !== 'rediss:') {
    throw new SluiceError(
      'USAGE',
      `A Redis URL starts with redis:// or rediss://; found "${parsed.protocol}//".`,
    );
  }
  const database = databaseOf(parsed);
  if (!/^\d{0,9}$/.test(database)) {
    throw new SluiceError(
      'USAGE',
      `A Redis database is a number, as in redis://HOST:PORT/2; found "${database}".`,
    );
  }
}

/** What the connections of a fleet's processes are called in CLIENT LIST. */
export const clientName = (fleet: string): string => `sluice:${fleet}`;

/**
 * Connects, or throws REDIS_UNREACHABLE within `timeoutMs`. Once connected, the client survives
 * outages: commands wait until Redis is back. `name`: of the connection in CLIENT LIST.
 */
export async function connectRedis(
  url: string,
  { name, timeoutMs = 5000 }: { name?: string; timeoutMs?: number } = {},
): Promise<Redis> {
  checkUrl(url);
  const client = newClient(url, {
    ...redisOptions,
    lazyConnect: true,
    connectTimeout: timeoutMs,
    ...(name === undefined ? {} : { connectionName: name }),
  });
  writeOnceATurn(client, process.nextTick);
  let last = 'no answer';
  const note = (error: Error) => {
    last = error.message || (error as { code?: string }).code || 'connection refused';
  };
  client.on('error', note);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(last)), timeoutMs);
  });
  try {
    await Promise.race([client.connect().then(() => client.ping()), deadline]);
  } catch (error) {
    client.disconnect();
    const reason = last === 'no answer' ? (error as Error).message : last;
    throw unreachable(url, reason);
  } finally {
    clearTimeout(timer);
  }
  try {
    await selectDatabase(client, url);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  return client;
}

/**
 * Throws USAGE unless the database that the URL names is there: ioredis only logs that it is not,
 * and goes on in database 0.
 */
async function selectDatabase(client: Redis, url: string): Promise<void> {
  if (clusterPlace(url) !== undefined) return;
  const name = databaseOf(new URL(url));
  if (name === '') return;
  await client.select(Number(name)).catch((error: Error) => {
    throw new SluiceError(
      'USAGE',
      `Redis at ${withoutPassword(url)} has no database ${name}: ${error.message}.`,
    );
  });
}

/** The options that lead redis-cli to this Redis. */
function addressOf({ options }: Redis): string {
  return `-h ${options.host} -p ${options.port}`;
}

/** What must be on disk before Redis answers: nothing, or every write. */
export type Durability = 'any' | 'always';

/**
 * Throws unless this Redis can be trusted with a fleet: version 6.2 or newer, no eviction (DESIGN 5.7), and
 * every write on disk before it answers where that is demanded.
 */
export async function assertFit(client: Redis, url: string, durability: Durability = 'any'): Promise<void> {
  for (const master of mastersOf(client)) await assertMasterFit(master, url, durability);
}

async function assertMasterFit(client: Redis, url: string, durability: Durability): Promise<void> {
  const info = await client.info();
  if (/^redis_mode:cluster/m.test(info) && clusterPlace(url) === undefined) {
    throw new SluiceError(
      'USAGE',
      `Redis at ${withoutPassword(url)} is a node of a Redis Cluster; name it as redis+cluster://HOST:PORT,HOST:PORT.`,
    );
  }
  const version = /redis_version:(\S+)/.exec(info)?.[1] ?? '0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 6 || (major === 6 && minor < 2)) {
    throw new SluiceError('REDIS_VERSION', `Redis ${version} is too old; Sluice needs 6.2 or newer.`);
  }
  const policy = /maxmemory_policy:(\S+)/.exec(info)?.[1] ?? 'unknown';
  if (policy !== 'noeviction') {
    throw new SluiceError(
      'REDIS_POLICY',
      `Redis has maxmemory-policy ${policy}, which may drop accepted work when memory runs out. ` +
        `Set it to noeviction: redis-cli ${addressOf(client)} CONFIG SET maxmemory-policy noeviction`,
    );
  }
  if (durability === 'always') await assertDurable(client);
}

/** Throws unless each write is on disk before Redis answers: what was acknowledged then survives its crash. */
async function assertDurable(client: Redis): Promise<void> {
  const settings: string[] = [];
  for (const [name, wanted] of [
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
  ] as const) {
    const reply = (await client.config('GET', name).catch((error: Error) => error)) as string[] | Error;
    if (reply instanceof Error)
      throw new SluiceError(
        'REDIS_POLICY',
        `redis_durability is always, and Redis does not say whether it keeps to that: ${reply.message}.`,
      );
    if (reply[1] !== wanted) settings.push(`${name} ${reply[1] ?? 'unknown'}`);
  }
  if (settings.length === 0) return;
  throw new SluiceError(
    'REDIS_POLICY',
    `redis_durability is always, but Redis has ${settings.join(' and ')}: a crash may lose what it has acknowledged. ` +
      'Set appendonly yes and appendfsync always in its configuration.',
  );
}
