import { availableParallelism } from 'node:os';
import type { Config } from '../../../config/schema.js';
import { type Autoscaler, startAutoscaler } from '../../../workers/autoscaler.js';
import { untilTold } from '../../../workers/lifecycle.js';
import { startScaleServer } from '../../../workers/scale-server.js';
import { type FleetEngine, openFleet } from '../../compose.js';
import { parseDuration } from '../../core/duration.js';
import { DURATION } from '../../core/duration-schema.js';
import { WorkerPool } from '../autoscale/pool.js';
import { ChildCounts } from '../child-counts.js';
import { spawnWorker } from '../executors.js';
import { listenGiven } from '../listen.js';
import { checkLogLevel, createLog } from '../log.js';
import { metricsGiven, observingOf, startMetrics } from '../observing.js';
import { type FleetOptions, ProblemList, wholeNumber } from '../options.js';
import { print, say } from '../output.js';
import { builtEntry } from '../package.js';
import { loadSettings, requireRedis } from '../redis.js';

export interface AutoscaleOptions extends FleetOptions {
  min?: string;
  max?: string;
  idle?: string;
  targetAge?: string;
  warm?: string;
  listen?: string;
  metrics?: string;
}

/** Milliseconds of an option, or the problem with it. */
function durationGiven(option: string, text: string | undefined, problems: ProblemList): number | undefined {
  const ms = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && ms === undefined)
    problems.add({ code: 'USAGE', path: option, message: DURATION, found: JSON.stringify(text) });
  return ms;
}

/** The settings, with what the command line says on top; `max` 0 is the number of cores. */
function settingsOf(
  options: AutoscaleOptions,
  { autoscale }: Config,
  problems: ProblemList,
): Config['autoscale'] {
  const given = {
    min: wholeNumber('--min', options.min, 0, problems) ?? autoscale.min,
    max: wholeNumber('--max', options.max, 1, problems) ?? (autoscale.max || availableParallelism()),
    warm: wholeNumber('--warm', options.warm, 0, problems) ?? autoscale.warm,
    idle: durationGiven('--idle', options.idle, problems) ?? autoscale.idle,
    target_age: durationGiven('--target-age', options.targetAge, problems) ?? autoscale.target_age,
  };
  if (given.min > given.max) {
    const message = `is more than the most workers, ${given.max}`;
    problems.add({ code: 'USAGE', path: '--min', message, found: String(given.min) });
  }
  return given;
}

interface Running {
  engine: FleetEngine;
  scaler: Autoscaler;
  shown: string;
  url: string | null;
}

async function greet({ engine, scaler, shown, url }: Running, json: boolean): Promise<void> {
  const { fleet, autoscale } = engine.config;
  const { min, max, warm } = autoscale;
  if (json) {
    const told = { role: 'autoscaler', id: scaler.id, fleet, min, max, warm, url };
    return print(`${JSON.stringify(told)}\n`);
  }
  say(
    `sluice: fleet ${fleet} on ${shown} has ${min} to ${max} workers here, as its work needs them. Ctrl-C ends it.`,
  );
  if (url !== null) say(`sluice: ${url}/scale tells how many are wanted`);
}

/** `sluice autoscale`: worker processes as the work needs them, until told to end; then drains them and answers 0. */
export async function autoscale(options: AutoscaleOptions): Promise<number> {
  const problems = new ProblemList();
  const level = (await problems.take(() => checkLogLevel(options.logLevel, 'info'))) ?? 'info';
  const loaded = await problems.take(() => loadSettings(options));
  const listen = options.listen === undefined ? undefined : listenGiven(options.listen, loaded, problems);
  const metrics = metricsGiven(options.metrics, loaded, problems);
  const wanted = loaded === undefined ? undefined : settingsOf(options, loaded, problems);
  problems.throwIfAny('USAGE', 'the autoscaler was not started.');
  const config = { ...(loaded as Config), autoscale: wanted as Config['autoscale'] };
  builtEntry();
  const place = await requireRedis(config);
  const told = untilTold();
  const log = await createLog(level);
  const observing = await observingOf(config, 'autoscaler', metrics !== undefined);
  const engine = await openFleet(config, place.url, log, undefined, observing);
  const ofWorkers = engine.metrics && new ChildCounts(engine.metrics.recorder);
  if (ofWorkers !== undefined) engine.metrics?.gatherFrom(() => ofWorkers.gather());
  const { fleet } = config;
  const child = { redisUrl: place.url, fleet, config: options.config, logLevel: level };
  const children = { ...child, drainMs: config.worker.drain, isAlone: place.isPrivate, counts: ofWorkers };
  let scaler: Autoscaler | undefined;
  let page: Awaited<ReturnType<typeof startMetrics>> | undefined;
  let server: Awaited<ReturnType<typeof startScaleServer>> | undefined;
  const { max, warm } = config.autoscale;
  const pool = new WorkerPool({
    spawn: () => spawnWorker(children, true),
    warm,
    max,
    drainMs: config.worker.drain,
    log,
    onChange: () => scaler?.wake(),
  });
  try {
    if (listen !== undefined) server = await startScaleServer(engine, listen, config.autoscale);
    page = await startMetrics(engine, metrics);
    scaler = await startAutoscaler(engine, pool, config.autoscale);
    await greet({ engine, scaler, shown: place.shown, url: server?.url ?? null }, options.json === true);
    await told;
  } finally {
    await Promise.all([scaler?.stop(), server?.close(), page?.close()]);
    await pool.stop();
    await engine.close();
    await place.release();
  }
  return 0;
}
