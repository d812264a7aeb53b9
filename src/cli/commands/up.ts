import { availableParallelism } from 'node:os';
import type { Config } from '../../../config/schema.js';
import { startAggregator } from '../../../workers/aggregator.js';
import { type Role, untilTold } from '../../../workers/lifecycle.js';
import { startSweeper } from '../../../workers/sweeper.js';
import { openFleet } from '../../compose.js';
import { ChildCounts } from '../child-counts.js';
import { Executors } from '../executors.js';
import { startHttp } from '../http-face.js';
import { listenGiven } from '../listen.js';
import { checkLogLevel, createLog } from '../log.js';
import { metricsGiven, observingOf, startMetrics } from '../observing.js';
import { type FleetOptions, ProblemList, wholeNumber } from '../options.js';
import { print, say } from '../output.js';
import { loadSettings, type RedisPlace, requireRedis } from '../redis.js';
import { sinkProblems, sinksOfBoth, stdoutProblems } from '../sink-problem.js';
import { sourcesOf, startSourcesOf } from '../sources.js';
import { startSinks } from './role.js';

interface Running {
  place: RedisPlace;
  config: Config;
  workers: number;
  /** Where the HTTP API listens; null: it is not served. */
  url: string | null;
  sources: number;
  /** Where metrics are served besides the HTTP API; null: nowhere. */
  metrics: string | null;
}

async function greet(
  { place, config, workers, url, sources, metrics }: Running,
  json: boolean,
): Promise<void> {
  const roles = `aggregator, sweeper and ${workers} worker${workers === 1 ? '' : 's'}`;
  if (json) {
    const redis = place.isPrivate ? null : place.shown;
    const told = { fleet: config.fleet, redis, private: place.isPrivate, workers, url, sources, metrics };
    await print(`${JSON.stringify(told)}\n`);
    return;
  }
  const where = place.isPrivate ? '' : ` --redis ${place.shown}`;
  say(`sluice: fleet ${config.fleet} is up on ${place.shown}: ${roles}. Ctrl-C ends it.`);
  if (url !== null) say(`The HTTP API listens at ${url}.`);
  say(`Try in another terminal${place.isPrivate ? ', in this folder' : ''}:`);
  say(`  sluice evaluate SCENARIO --runs FILE${where}`);
  say(`  sluice events tail${where}`);
}

export interface UpOptions extends FleetOptions {
  workers?: string;
  sink?: string[];
  listen?: string;
  source?: string[];
  metrics?: string;
}

/** `sluice up`: a whole fleet in one process tree, until told to end; answers 0. */
export async function up(options: UpOptions): Promise<number> {
  const problems = new ProblemList();
  const level = (await problems.take(() => checkLogLevel(options.logLevel, 'info'))) ?? 'info';
  const wanted = wholeNumber('--workers', options.workers, 1, problems);
  const settings = await problems.take(() => loadSettings(options));
  const sinks = sinksOfBoth(settings?.sinks, options.sink);
  problems.add(...(await sinkProblems(sinks)), ...stdoutProblems(sinks, options.json ? '--json' : undefined));
  const listen = listenGiven(options.listen, settings, problems);
  const metrics = metricsGiven(options.metrics, settings, problems);
  const sources = sourcesOf(settings, options.source, problems);
  problems.throwIfAny('USAGE', 'nothing was started.');
  const config = settings as Config;
  const workers = wanted ?? Math.max(1, availableParallelism() - 1);
  const place = await requireRedis(config);
  const log = await createLog(level);
  const told = untilTold();
  const counts = metrics !== undefined || listen !== undefined;
  const engine = await openFleet(config, place.url, log, undefined, await observingOf(config, 'up', counts));
  const ofWorkers = engine.metrics && new ChildCounts(engine.metrics.recorder);
  if (ofWorkers !== undefined) engine.metrics?.gatherFrom(() => ofWorkers.gather());
  const executors = new Executors(
    {
      redisUrl: place.url,
      fleet: config.fleet,
      config: options.config,
      logLevel: level,
      drainMs: config.worker.drain,
      isAlone: place.isPrivate,
      counts: ofWorkers,
    },
    log,
  );
  const roles: Pick<Role, 'stop'>[] = [];
  try {
    if (sinks.length > 0) roles.push(await startSinks(engine, sinks));
    executors.start(workers);
    roles.push(await startAggregator(engine), await startSweeper(engine));
    const http = listen === undefined ? undefined : await startHttp(engine, listen);
    if (http !== undefined) roles.push(http.role);
    if (sources.length > 0) roles.push(await startSourcesOf(engine, sources));
    const page = await startMetrics(engine, metrics);
    roles.push({ stop: () => page.close() });
    const running = {
      place,
      config,
      workers,
      url: http?.url ?? null,
      sources: sources.length,
      metrics: page.url,
    };
    await greet(running, options.json === true);
    await told;
  } finally {
    await Promise.all([executors.stop(), ...roles.map((role) => role.stop())]);
    await engine.close();
    await place.release();
  }
  return 0;
}
