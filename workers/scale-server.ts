import { createServer } from 'node:http';
import { MOST_WORKERS, scaleOf } from '../src/compose/scale.js';
import type { FleetEngine } from '../src/compose.js';
import type { ScalePolicy } from '../src/core/autoscale/target.js';
import { SluiceError } from '../src/core/problem.js';
import { type Listen, type Listening, listenOn } from './listening.js';

/** A number of workers in the address; undefined: none is given, or it is none. */
function limitOf(given: string | null): number | undefined {
  return given !== null && /^\d{1,4}$/.test(given) ? Math.min(Number(given), MOST_WORKERS) : undefined;
}

/**
 * Serves `GET /scale` and `GET /healthz`, for autoscalers of clusters. Throws USAGE when it cannot listen there.
 * `url` says where it does.
 */
export async function startScaleServer(
  engine: FleetEngine,
  listen: Listen,
  limits: Pick<ScalePolicy, 'min' | 'max'>,
): Promise<Listening> {
  const ended = new AbortController();
  const scale = scaleOf(engine, ended.signal);
  const server = createServer((request, response) => {
    const answer = (status: number, body: unknown) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
        .end(JSON.stringify(body));
    const [path, query] = (request.url ?? '').split('?');
    if (request.method !== 'GET' || (path !== '/scale' && path !== '/healthz'))
      return answer(404, { message: 'Here are GET /scale and GET /healthz.' });
    if (path === '/healthz') return answer(200, { status: 'ok' });
    const given = new URLSearchParams(query);
    const min = limitOf(given.get('min')) ?? limits.min;
    const max = limitOf(given.get('max')) ?? limits.max;
    void scale.answer({ min, max }).then((body) => answer(200, body));
  });
  const { url, close } = await listenOn(
    server,
    listen,
    ({ message }) =>
      new SluiceError('USAGE', `--listen ${listen.host}:${listen.port} cannot be used: ${message}.`),
  );
  return {
    url,
    close() {
      ended.abort();
      return close();
    },
  };
}
