import type { Problem } from './problem.js';

/** A URL without the user and password that may stand in it; any other text as it is. */
export function withoutPassword(url: string): string {
  return url.replace(/(^|\/\/)[^/]*@/, '$1***@');
}

/** What is wrong with a part of what is a URL of Redis. */
function partProblem(url: string): Omit<Problem, 'path'> | undefined {
  const { hostname, port, pathname } = new URL(url);
  const problem = (message: string) => ({ message, found: JSON.stringify(withoutPassword(url)) });
  if (hostname === '') return problem('names no host; write redis://HOST:PORT');
  if (port === '0') return problem('names port 0; a port is a number from 1 to 65535');
  if (!/^\/?\d{0,9}$/.test(pathname))
    return problem('names no database; a database is a number, as in redis://HOST:PORT/2');
  return undefined;
}

/** What is wrong with a Redis URL, and what was probably meant. */
export function redisUrlProblem(place: Pick<Problem, 'file' | 'path'>, url: string): Problem | undefined {
  if (/^rediss?:\/\/./.test(url) && URL.canParse(url)) {
    const problem = partProblem(url);
    return problem === undefined ? undefined : { ...place, ...problem };
  }
  const address = /^(?:[a-z][a-z0-9+.-]*:)?\/\/(.+)$/i.exec(url)?.[1] ?? url;
  const proposal = `redis://${withoutPassword(address)}`;
  return {
    ...place,
    message: 'is no Redis URL',
    found: JSON.stringify(withoutPassword(url)),
    allowed: ['redis://HOST:PORT', 'rediss://HOST:PORT'],
    ...(address !== '' && URL.canParse(proposal) ? { nearest: proposal } : {}),
  };
}
