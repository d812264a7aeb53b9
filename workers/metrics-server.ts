import { createServer, type ServerResponse } from 'node:http';
import { inTime } from '../src/app/in-time.js';
import { DEAD_AFTER_MS } from '../src/app/living.js';
import type { FleetEngine } from '../src/compose.js';
import { type Listen, type Listening, listenOn, listenRefusal } from './listening.js';

/** Milliseconds in which Redis must answer. */
const READY_MS = 2000;
/** Milliseconds in which a request must have come. */
const REQUEST_MS = 10_000;

/** Whether Redis answers; one question at a time, however many ask here: while it is away they would pile up. */
function readinessOf({ store, clock }: FleetEngine): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return async () => {
    asked ??= store.roster
      .alive(clock.now() - DEAD_AFTER_MS)
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asked = undefined;
      });
    return inTime(asked, READY_MS, () => false);
  };
}

type Answer = { status: number; type: string; body: string };

const json = (status: number, body: unknown): Answer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(body),
});

function send(response: ServerResponse, isHead: boolean, { status, type, body }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(isHead ? undefined : body);
}

/**
 * Serves GET /metrics, /healthz (the process lives) and /readyz (Redis answers) of a role, without a token.
 * Throws USAGE when it cannot listen there. `url` says where it does.
 */
export async function serveMetrics(engine: FleetEngine, listen: Listen): Promise<Listening> {
  const isReady = readinessOf(engine);
  const answer = async (path: string | undefined): Promise<Answer> => {
    if (path === '/healthz') return json(200, { status: 'ok' });
    if (path === '/readyz')
      return (await isReady()) ? json(200, { status: 'ready' }) : json(503, { status: 'unavailable' });
    if (path !== '/metrics' || engine.metrics === undefined)
      return json(404, { message: 'Here are GET /metrics, GET /healthz and GET /readyz.' });
    const { text, contentType } = await engine.metrics.page();
    return { status: 200, type: contentType, body: text };
  };
  const server = createServer({ requestTimeout: REQUEST_MS }, ({ method, url = '' }, response) => {
    const isHead = method === 'HEAD';
    if (method !== 'GET' && !isHead) return send(response, false, json(405, { message: 'Only GET.' }));
    answer(url.split('?')[0]).then(
      (found) => send(response, isHead, found),
      (error: Error) => {
        engine.log.error({ err: error }, 'metrics could not be written');
        send(response, isHead, json(500, { message: 'The metrics could not be written; the log says why.' }));
      },
    );
  });
  return listenOn(server, listen, (error) => listenRefusal('The metrics', '--metrics', listen, error));
}
