import type { Config } from '../../../config/schema.js';
import { startAggregator } from '../../../workers/aggregator.js';
import { openSinkReader, startDispatcher } from '../../../workers/dispatcher.js';
import { startExecutor } from '../../../workers/executor.js';
import { type Role, untilTold } from '../../../workers/lifecycle.js';
import { startSweeper } from '../../../workers/sweeper.js';
import { errorLogger, type FleetEngine, openFleet } from '../../compose.js';
import { SluiceError } from '../../core/problem.js';
import type { RoleName } from '../../ports/store.js';
import { CHILD_COUNTS, countForParent } from '../child-counts.js';
import { CHILD_WAITS, END_AT_ONCE, tellParent } from '../child-messages.js';
import { CHILD_REDIS, CHILD_UNSERVED } from '../child-redis.js';
import { checkLogLevel, createLog } from '../log.js';
import { metricsGiven, observingOf, startMetrics } from '../observing.js';
import { type FleetOptions, ProblemList, wholeNumber } from '../options.js';
import { print, say } from '../output.js';
import { loadSettings, requireRedis } from '../redis.js';
import { type GivenSink, sinkProblems, sinksOfBoth, stdoutProblems } from '../sink-problem.js';
import { idleEnd, startWhenTold } from '../waiting-worker.js';

/** Opens a reader for each sink, from the oldest event that is kept when it is new. */
export async function startSinks(engine: FleetEngine, sinks: readonly GivenSink[]): Promise<Role> {
  const place = {
    redisUrl: engine.redisUrl,
    fleet: engine.config.fleet,
    config: engine.config.delivery,
    onError: errorLogger(engine.log),
  };
  const readers = [];
  for (const { setting } of sinks) readers.push(await openSinkReader(setting, place));
  for (const { name } of readers) await engine.store.outbox.openReader(name, '');
  return startDispatcher(engine, readers);
}

function start(role: RoleName, engine: FleetEngine, sinks: readonly GivenSink[]): Promise<Role> {
  if (role === 'worker') return startExecutor(engine);
  if (role === 'aggregator') return startAggregator(engine);
  if (role === 'sweeper') return startSweeper(engine);
  return startSinks(engine, sinks);
}

/** Runs one role until it is told to end (SIGTERM, Ctrl-C, the parent gone), drains, and answers 0. */
export async function runRole(
  role: RoleName,
  options: FleetOptions & { concurrency?: string; sink?: string[]; metrics?: string },
): Promise<number> {
  const problems = new ProblemList();
  const level = (await problems.take(() => checkLogLevel(options.logLevel, 'info'))) ?? 'info';
  const concurrency = wholeNumber('--concurrency', options.concurrency, 1, problems);
  const settings = await problems.take(() => loadSettings(options));
  const metrics = metricsGiven(options.metrics, settings, problems);
  const sinks = sinksOfBoth(settings?.sinks, options.sink);
  if (role === 'dispatcher')
    problems.add(
      ...(await sinkProblems(sinks)),
      ...stdoutProblems(sinks, options.json ? '--json' : undefined),
    );
  problems.throwIfAny('USAGE', `the ${role} was not started.`);
  const config = withWorker(settings as Config, {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(process.env[CHILD_UNSERVED] === 'error' ? { unserved: 'error' } : {}),
  });
  if (role === 'dispatcher' && sinks.length === 0)
    throw new SluiceError(
      'USAGE',
      'A dispatcher needs a sink: --sink KIND=TARGET, or sinks: in the settings.',
    );
  const place = await requireRedis(config);
  const waits = role === 'worker' && process.env[CHILD_WAITS] === '1';
  const countsForParent = process.env[CHILD_COUNTS] === '1';
  delete process.env[CHILD_COUNTS];
  delete process.env[CHILD_WAITS];
  delete process.env[CHILD_REDIS];
  delete process.env[CHILD_UNSERVED];
  if (place.isPrivate) say(`sluice: joining ${place.shown}`);
  const told = untilTold();
  process.on('message', (message) => {
    if (message === END_AT_ONCE) process.exit(3);
  });
  const observing = await observingOf(config, role, countsForParent || metrics !== undefined);
  const engine = await openFleet(config, place.url, await createLog(level), undefined, observing);
  const recorder = engine.metrics?.recorder;
  const tellRest = countsForParent && recorder ? countForParent(recorder) : undefined;
  let page: Awaited<ReturnType<typeof startMetrics>> | undefined;
  try {
    page = await startMetrics(engine, metrics);
    const running = waits ? await startWhenTold(engine, told) : await start(role, engine, sinks);
    if (running === undefined) return 0;
    tellParent({ state: 'up', id: running.id });
    const joined = { role, id: running.id, fleet: config.fleet, metrics: page.url };
    if (options.json) await print(`${JSON.stringify(joined)}\n`);
    await Promise.race([told, idleEnd(running)]);
    await running.stop();
    await tellRest?.();
  } finally {
    await page?.close();
    await engine.close();
    await place.release();
  }
  return 0;
}

function withWorker(config: Config, worker: Partial<Config['worker']>): Config {
  return { ...config, worker: { ...config.worker, ...worker } };
}
