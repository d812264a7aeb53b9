import type { AddressInfo } from 'node:net';
import type { FleetEngine } from '../src/compose.js';
import { makeDeps } from '../src/http/make-deps.js';
import { createServer } from '../src/http/server.js';
import { type Role, startRole } from './lifecycle.js';
import { type Listen, listenRefusal, urlOf } from './listening.js';

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
    throw listenRefusal('The HTTP API', '--listen', listen, error);
  });
  const { port } = app.server.address() as AddressInfo;
  const url = urlOf(config.http.cert === undefined ? 'http' : 'https', listen, port);
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
