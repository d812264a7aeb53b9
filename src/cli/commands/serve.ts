import type { Config } from '../../../config/schema.js';
import { type Role, untilTold } from '../../../workers/lifecycle.js';
import { livingRoles } from '../../app/living.js';
import { type FleetEngine, openFleet } from '../../compose.js';
import { startHttp } from '../http-face.js';
import { DEFAULT_LISTEN, listenGiven } from '../listen.js';
import { checkLogLevel, createLog } from '../log.js';
import { metricsGiven, observingOf, startMetrics } from '../observing.js';
import { type FleetOptions, ProblemList } from '../options.js';
import { print, say } from '../output.js';
import { loadSettings, type RedisPlace, requireRedis } from '../redis.js';
import { sourcesOf, startSourcesOf } from '../sources.js';

export interface ServeOptions extends FleetOptions {
  listen?: string;
  source?: string[];
  metrics?: string;
}

interface Running {
  place: RedisPlace;
  config: Config;
  url: string;
  sources: number;
  /** Where metrics are served besides the HTTP API; null: nowhere. */
  metrics: string | null;
}

async function greet({ place, config, url, sources, metrics }: Running, json: boolean) {
  const redis = place.isPrivate ? null : place.shown;
  if (json)
    return print(
      `${JSON.stringify({ role: 'server', fleet: config.fleet, redis, url, sources, metrics })}\n`,
    );
  const from = sources === 0 ? '' : `, with ${sources} source${sources === 1 ? '' : 's'}`;
  say(`sluice: the HTTP API of fleet ${config.fleet} listens at ${url}${from}. Ctrl-C ends it.`);
}

/** A server stores what comes; others judge it. */
async function tellWhoIsMissing({ store, clock }: FleetEngine): Promise<void> {
  const alive = await livingRoles(store, clock);
  const missing = (['worker', 'aggregator'] as const).filter((role) => !alive.has(role));
  if (missing.length === 0) return;
  say(`sluice: no ${missing.join(' and no ')} is alive: what comes is stored, and judged once one is`);
}

/** `sluice serve`: the HTTP API and the sources, until told to end; answers 0. */
export async function serve(options: ServeOptions): Promise<number> {
  const problems = new ProblemList();
  const level = (await problems.take(() => checkLogLevel(options.logLevel, 'info'))) ?? 'info';
  const settings = await problems.take(() => loadSettings(options));
  const listen = listenGiven(options.listen, settings, problems) ?? DEFAULT_LISTEN;
  const metrics = metricsGiven(options.metrics, settings, problems);
  const sources = sourcesOf(settings, options.source, problems);
  problems.throwIfAny('USAGE', 'the server was not started.');
  const config = settings as Config;
  const place = await requireRedis(config);
  const told = untilTold();
  const observing = await observingOf(config, 'server', true);
  const engine = await openFleet(config, place.url, await createLog(level), undefined, observing);
  const roles: Pick<Role, 'stop'>[] = [];
  try {
    const { role, url } = await startHttp(engine, listen);
    const page = await startMetrics(engine, metrics);
    roles.push(role, { stop: () => page.close() });
    if (sources.length > 0) roles.push(await startSourcesOf(engine, sources));
    await greet({ place, config, url, sources: sources.length, metrics: page.url }, options.json === true);
    await tellWhoIsMissing(engine);
    await told;
  } finally {
    await Promise.all(roles.map((role) => role.stop()));
    await engine.close();
    await place.release();
  }
  return 0;
}
