import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { z } from 'zod';
import { type Problem, SluiceError } from '../../src/core/problem.js';
import { redisUrlProblem, withoutPassword } from '../../src/core/redis-url.js';
import { type SecretReader, secretSchema, type Tls, tlsSchema } from '../../src/core/secret.js';

export const REDIS_STREAM_TARGET = 'KEY (on the fleet’s Redis) or redis://HOST:PORT#KEY';

/** How a stream that is not on the fleet's own Redis is reached. */
export const redisLoginOptions = {
  username: z.string().min(1).optional().describe('User of Redis; goes with password'),
  password: secretSchema.optional(),
  tls: tlsSchema.optional().describe('Certificates of a rediss:// connection'),
};
const loginSchema = z.strictObject(redisLoginOptions);
export type RedisLogin = z.output<typeof loginSchema>;

/** Parts of `redis://HOST:PORT#KEY`; without `url` the key is on the fleet's own Redis. */
export function streamPlace(target: string): { url?: string; key: string } {
  // A key may hold anything, but what looks like an address is one.
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) return { key: target };
  const at = target.indexOf('#');
  return at < 0 ? { url: target, key: '' } : { url: target.slice(0, at), key: target.slice(at + 1) };
}

/** What is wrong with a target and how it is reached. */
export function streamPlaceProblem(
  target: string,
  { username, password, tls }: RedisLogin,
): Omit<Problem, 'path'> | undefined {
  const { url, key } = streamPlace(target);
  const found = `redis-stream=${withoutPassword(target)}`;
  if (url === undefined) {
    const isOwn = username === undefined && password === undefined && tls === undefined;
    return isOwn
      ? undefined
      : { message: 'is on the fleet’s Redis, which has credentials of its own', found };
  }
  if (/^rediss?:/.test(target) && key === '')
    return { message: 'lacks the key of the stream; write redis://HOST:PORT#KEY', found };
  const wrong = redisUrlProblem({ path: '' }, url);
  if (wrong !== undefined) {
    const { path: _, ...rest } = wrong;
    return { ...rest, found };
  }
  if (tls !== undefined && !url.startsWith('rediss:'))
    return { message: 'has certificates but no TLS; write rediss://HOST:PORT#KEY', found };
  if (username !== undefined && password === undefined)
    return { message: 'has a username without its password', found };
  return undefined;
}

async function certificates({ ca, cert, key }: Tls): Promise<ConnectionOptions> {
  const read = async (name: string, file: string | undefined) => {
    if (file === undefined) return {};
    const content = await readFile(file).catch((error: Error) => {
      throw new SluiceError('USAGE', `The file of tls.${name} cannot be read: ${error.message}`);
    });
    return { [name]: content };
  };
  return { ...(await read('ca', ca)), ...(await read('cert', cert)), ...(await read('key', key)) };
}

interface LoginSettings {
  username?: string;
  password?: string;
  tls?: ConnectionOptions;
}

/** Credentials and certificates as ioredis takes them. Throws SECRET_MISSING or USAGE. */
export async function redisLogin(given: RedisLogin, secret: SecretReader): Promise<LoginSettings> {
  return {
    ...(given.username === undefined ? {} : { username: given.username }),
    ...(given.password === undefined ? {} : { password: await secret(given.password) }),
    ...(given.tls === undefined ? {} : { tls: await certificates(given.tls) }),
  };
}
