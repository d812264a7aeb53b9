import { SluiceError } from '../src/core/problem.js';

/** Where a server listens; an IPv6 address without brackets; port 0: one that is free. */
export interface Listen {
  host: string;
  port: number;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there; give another port with OPTION HOST:PORT',
  EACCES: 'this user may not listen on that port; give one above 1023',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

/** Why `what` cannot listen there; `option` says where it listens. */
export function listenRefusal(
  what: string,
  option: string,
  { host, port }: Listen,
  error: NodeJS.ErrnoException,
): SluiceError {
  const reason = REASONS[error.code ?? '']?.replace('OPTION', option) ?? error.message;
  return new SluiceError('USAGE', `${what} cannot listen on ${host}:${port}: ${reason}.`);
}

/** The address of a server that listens. */
export function urlOf(scheme: 'http' | 'https', { host }: Listen, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
