import type { Role } from '../../workers/lifecycle.js';
import type { Listen } from '../../workers/listening.js';
import { startServer } from '../../workers/server.js';
import type { FleetEngine } from '../compose.js';
import { listenWarning } from './listen.js';
import { say } from './output.js';

/** Starts the HTTP API and says what a person must know about it; answers with its role and where it is. */
export async function startHttp(engine: FleetEngine, listen: Listen): Promise<{ role: Role; url: string }> {
  const warning = listenWarning(listen, engine.config.http);
  const { role, url } = await startServer(engine, listen);
  if (warning !== undefined) say(`sluice: warning: ${warning}`);
  if ((await engine.store.tokens.list()).length === 0)
    say('sluice: there is no token yet; make one with: sluice token add NAME --role operate');
  return { role, url };
}
