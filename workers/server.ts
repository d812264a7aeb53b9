import type { AddressInfo } from 'node:net';
import type { FleetEngine } from '../src/compose.js';
import { SluiceError } from '../src/core/problem.js';
import { makeDeps } from '../src/http/make-deps.js';
import { createServer } from '../src/http/server.js';
import { type Role, startRole } from './lifecycle.js';

/** Where a server listens; an IPv6 address without brackets; port 0: one that is free. */
export interface Listen {
  host: string;
  port: number;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there; give another port with --listen HOST:PORT',
  EACCES: 'this user may not listen on that port; give one above 1023',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

function refusal({ host, port }: Listen, error: NodeJS.ErrnoException): SluiceError {
  const reason = REASONS[error.code ?? ''] ?? error.message;
  return new SluiceError('USAGE', `The HTTP API cannot listen on ${host}:${port}: ${reason}.`);
}

/**
 * Starts the HTTP API; `url` says where, with the port that it got. Throws USAGE when it cannot listen there,
 * INVALID_CONFIG when certificate or key cannot be used.
 */
export async function startServer(engine: FleetEngine, listen: Listen): Promise<{ role: Role; url: string }> {
  const { config, log } = engine;
  const draining = new AbortController();
  const app = await createServer(makeDeps(engine, draining.signal), config.http);
  await app.listen(listen).catch(async (error: NodeJS.ErrnoException) => {
    await app.close();
    throw refusal(listen, error);
  });
  const { port } = app.server.address() as AddressInfo;
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const url = `${config.http.cert === undefined ? 'http' : 'https'}://${host}:${port}`;
  const role = await startRole(engine, 'server', () => ({
    async drain() {
      draining.abort();
      const timer = setTimeout(() => {
        log.warn('requests were cut off that did not end in time');
        app.server.closeAllConnections();
      }, config.http.drain);
      await app.close().finally(() => clearTimeout(timer));
    },
  }));
  return { role, url };
}
