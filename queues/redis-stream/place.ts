import type { ConnectionOptions } from 'node:tls';
import { z } from 'zod';
import type { Problem } from '../../src/core/problem.js';
import { redisUrlProblem, withoutPassword } from '../../src/core/redis-url.js';
import type { SecretReader } from '../../src/core/secret.js';
import { loginOptions, readLogin, readTls } from '../buses/login.js';

export const REDIS_STREAM_TARGET = 'KEY (on the fleet’s Redis) or redis://HOST:PORT#KEY';

const { user, password, tls } = loginOptions;
/** How a stream that is not on the fleet's own Redis is reached. */
export const redisLoginOptions = { user, password, tls };
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
  { user, password, tls }: RedisLogin,
): Omit<Problem, 'path'> | undefined {
  const { url, key } = streamPlace(target);
  const found = `redis-stream=${withoutPassword(target)}`;
  if (url === undefined) {
    const isOwn = user === undefined && password === undefined && tls === undefined;
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
  if (user !== undefined && password === undefined)
    return { message: 'has a user without its password', found };
  return undefined;
}

interface LoginSettings {
  username?: string;
  password?: string;
  tls?: ConnectionOptions;
}

/** Credentials and certificates as ioredis takes them. Throws SECRET_MISSING. */
export async function redisLogin(given: RedisLogin, secret: SecretReader): Promise<LoginSettings> {
  const login = await readLogin(given, secret);
  return {
    ...(login.user === undefined ? {} : { username: login.user }),
    ...(login.password === undefined ? {} : { password: login.password }),
    ...(given.tls === undefined ? {} : { tls: await readTls(given.tls) }),
  };
}
