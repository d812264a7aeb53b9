import { Redis, type RedisOptions } from 'ioredis';
import { clusterPlace } from '../../core/redis-url.js';
import { findRedisBinary } from '../../embedded/binary.js';
import { type DoctorCheck, type Finding, fail, ok, warn } from '../check.js';

const CONNECT_MS = 5_000;

type RedisSettings = Omit<RedisOptions, 'replyMapping'>;
const ANOTHER = '--redis or REDIS_URL names another.';
const PRIVATE_REDIS = `The private one of this folder is used; ${ANOTHER}`;
const NO_REDIS =
  'Without --redis, REDIS_URL or a redis-server of its own, evaluate judges inline and keeps nothing, and no role can start.';

/** What Redis says about itself, as far as the account may ask. */
export interface RedisFacts {
  version: string;
  /** Options of redis-cli that lead to it, such as `-h 127.0.0.1 -p 6379`. */
  address: string;
  policy: string | undefined;
  appendonly: string | undefined;
  appendfsync: string | undefined;
}

/** The rules of DESIGN 5 for a Redis, as findings: version, eviction, durability. */
export function judgeRedis(facts: RedisFacts): Finding[] {
  return [judgeVersion(facts.version), judgePolicy(facts), judgeDurability(facts)];
}

function judgeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const recent = major > 6 || (major === 6 && minor >= 2);
  return recent
    ? ok(`reachable, version ${version}`)
    : fail(`version ${version}`, 'Redis 6.2 or newer is needed.');
}

function judgePolicy({ policy, address }: RedisFacts): Finding {
  if (policy === undefined) {
    return warn(
      'maxmemory-policy cannot be read',
      'Make sure that it is noeviction: queues must not lose keys.',
    );
  }
  if (policy === 'noeviction') return ok('maxmemory-policy noeviction');
  const command = `redis-cli ${address} CONFIG SET maxmemory-policy noeviction`;
  return fail(`maxmemory-policy ${policy}`, `It silently removes queued work. Set: ${command}`);
}

function judgeDurability({ appendonly, appendfsync }: RedisFacts): Finding {
  if (appendonly === undefined) {
    return warn('appendonly cannot be read', 'Ask the operator: it bounds what a crash can lose.');
  }
  if (appendonly !== 'yes') {
    return warn(
      'appendonly no',
      'A crash of Redis loses everything since its last snapshot; set appendonly yes.',
    );
  }
  if (appendfsync === 'always') return ok('appendonly yes, appendfsync always: nothing acknowledged is lost');
  if (appendfsync === 'everysec') {
    return ok(
      'appendonly yes, appendfsync everysec',
      'A crash can lose up to two seconds; always loses nothing.',
    );
  }
  return warn(
    `appendonly yes, appendfsync ${appendfsync}`,
    'A crash loses what the system had not yet written.',
  );
}

/** The address without the password that may stand in it. */
function shown(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//***@');
}

export const redisCheck: DoctorCheck = {
  name: 'redis',
  async run({ redisUrl, privatePort, dir, env }) {
    if (redisUrl === undefined) {
      if (privatePort !== undefined)
        return [ok(`no Redis is set; the private one of this folder runs on port ${privatePort}`, ANOTHER)];
      const own = await findRedisBinary(dir, env);
      return [own === undefined ? warn('no Redis is set', NO_REDIS) : ok('no Redis is set', PRIVATE_REDIS)];
    }
    const place = clusterPlace(redisUrl);
    if (place === undefined) return look(redisUrl, { url: redisUrl });
    const { nodes, tls, ...login } = place;
    const found = await Promise.all(
      nodes.map(async ({ host, port }) => {
        const findings = await look(redisUrl, { host, port, ...login, ...(tls ? { tls: {} } : {}) });
        return findings.map((finding) => ({ ...finding, found: `${host}:${port}: ${finding.found}` }));
      }),
    );
    return found.flat();
  },
};

async function look(
  redisUrl: string,
  { url, ...options }: RedisSettings & { url?: string },
): Promise<Finding[]> {
  let reason = '';
  let client: Redis | undefined;
  const settings = {
    ...options,
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: CONNECT_MS,
    retryStrategy: () => null,
  };
  try {
    client = url === undefined ? new Redis(settings) : new Redis(url, settings);
    client.on('error', (error) => {
      reason = error.message;
    });
    await client.connect();
    return judgeRedis(await ask(client));
  } catch (error) {
    const why = reason || (error as Error).message;
    return [
      fail(`${shown(redisUrl)} cannot be reached: ${why}`, 'Start it, or correct --redis or REDIS_URL.'),
    ];
  } finally {
    client?.disconnect();
  }
}

async function ask(client: Redis): Promise<RedisFacts> {
  const info = await client.info();
  // Hosted services often forbid CONFIG.
  const setting = async (name: string) =>
    client.config('GET', name).then(
      (pair) => (Array.isArray(pair) ? String(pair[1]) : undefined),
      () => undefined,
    );
  return {
    address: `-h ${client.options.host} -p ${client.options.port}`,
    version: /^redis_version:(.+?)\r?$/m.exec(info)?.[1] ?? '0',
    policy: /^maxmemory_policy:(.+?)\r?$/m.exec(info)?.[1] ?? (await setting('maxmemory-policy')),
    appendonly: await setting('appendonly'),
    appendfsync: await setting('appendfsync'),
  };
}
