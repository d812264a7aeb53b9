import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/** What listens: where, and its end, which hangs up on whoever is connected. */
export interface Listening {
  url: string;
  close(): Promise<void>;
}

/** Makes a server listen there. Throws what `refusal` makes of the reason why it cannot. */
export async function listenOn(
  server: Server,
  listen: Listen,
  refusal: (error: NodeJS.ErrnoException) => SluiceError,
): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refusal(error)));
    server.listen(listen.port, listen.host, resolve);
  });
  return {
    url: urlOf('http', listen, (server.address() as AddressInfo).port),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
