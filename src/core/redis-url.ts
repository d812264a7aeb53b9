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
  if (/^rediss?\+cluster:/.test(url)) return clusterProblem(place, url);
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

function clusterProblem(place: Pick<Problem, 'file' | 'path'>, url: string): Problem | undefined {
  if (clusterPlace(url) !== undefined) return undefined;
  return {
    ...place,
    message: 'is no address of a Redis Cluster, which has nodes but no databases',
    found: JSON.stringify(withoutPassword(url)),
    allowed: ['redis+cluster://HOST:PORT,HOST:PORT', 'rediss+cluster://HOST:PORT,HOST:PORT'],
  };
}

/** The nodes of a Redis Cluster by which it is found, and how to log in to each of its nodes. */
export interface ClusterPlace {
  nodes: { host: string; port: number }[];
  username?: string;
  password?: string;
  tls: boolean;
}

const CLUSTER = /^(rediss?)\+cluster:\/\/(?:([^@/]*)@)?([^/?#]+)\/?$/;

/** Parts of `redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT`; undefined for any other text. */
export function clusterPlace(url: string): ClusterPlace | undefined {
  const found = CLUSTER.exec(url);
  if (found === null) return undefined;
  const [, scheme, login = '', hosts = ''] = found;
  const nodes = hosts.split(',').map((host) => nodeOf(host));
  if (nodes.some((node) => node === undefined)) return undefined;
  const colon = login.indexOf(':');
  const user = colon < 0 ? login : login.slice(0, colon);
  const password = colon < 0 ? '' : login.slice(colon + 1);
  return {
    nodes: nodes as ClusterPlace['nodes'],
    ...(user === '' ? {} : { username: decodedPart(user) }),
    ...(password === '' ? {} : { password: decodedPart(password) }),
    tls: scheme === 'rediss',
  };
}

function nodeOf(text: string): ClusterPlace['nodes'][number] | undefined {
  const url = `redis://${text}`;
  if (text.includes('@') || !URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  if (hostname === '' || port === '0') return undefined;
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
