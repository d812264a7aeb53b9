import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Config } from '../config/schema.js';
import { BullWorkQueue } from '../queues/work-queue.js';
import type { Executor } from './app/execute.js';
import { type OutageTeller, outageListener } from './app/outage.js';
import { sweepPlans } from './app/plan/deadlines.js';
import { withCheckedEvents } from './compose/checked-events.js';
import type { Counting } from './compose/counting.js';
import type { Engine, FleetEngine } from './compose/engine.js';
import { createExecutor } from './compose/executor.js';
import { withMeter } from './compose/metered-store.js';
import { metricsOf } from './compose/metrics.js';
import { createAggregator, keeperOf } from './compose/plans.js';
import { openPressure } from './compose/pressure.js';
import { openRunners } from './compose/runners.js';
import { withTraces } from './compose/traced.js';
import type { Tracing } from './compose/tracing.js';
import { InlineQueue } from './inline/queue.js';
import type { Clock } from './ports/clock.js';
import type { Store } from './ports/store.js';
import { openMemoryStore } from './store/memory/index.js';
import { openRedisShards } from './store/redis/index.js';
import { shardedStore } from './store/sharded/index.js';

/** Events that the inline engine keeps when no sink reads them. */
export const INLINE_EVENTS_KEPT = 10_000;

export const systemClock: Clock = { now: () => Date.now() };

/** Name of this process in rosters and results: `<host>-<pid>-<4 hex digits>`. */
export function processName(): string {
  return `${hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`;
}

/** Logs an infrastructure error once a second at most for the same message. */
export function errorLogger(log: Logger): (error: Error) => void {
  const seen = new Map<string, number>();
  return (error) => {
    const now = Date.now();
    if (now - (seen.get(error.message) ?? 0) < 1000) return;
    if (seen.size > 100) seen.clear();
    seen.set(error.message, now);
    log.warn(
      { err: { message: error.message, code: (error as { code?: string }).code } },
      'infrastructure trouble',
    );
  };
}

/** Infrastructure trouble as log entries: one for the beginning of an outage, one for its end. */
function troubleLog(log: Logger): OutageTeller {
  return {
    away: (reason) => log.warn({ reason }, 'Redis is away; waiting'),
    back: () => log.warn('Redis is back'),
    other: errorLogger(log),
    repeated: (error) => log.debug({ err: { message: error.message } }, 'Redis is still away'),
  };
}

/** Who looks on at what a process does; by default nobody. */
export interface Observing {
  counting?: Counting | undefined;
  tracing?: Tracing | undefined;
}

/**
 * Opens a fleet; throws REDIS_UNREACHABLE, REDIS_VERSION, REDIS_POLICY or SHARDS_CHANGED. `teller` hears of
 * infrastructure trouble; default: the log.
 */
export async function openFleet(
  config: Config,
  redisUrl: string,
  log: Logger,
  teller: OutageTeller = troubleLog(log),
  { counting, tracing }: Observing = {},
): Promise<FleetEngine> {
  const meter = counting?.recorder;
  const settings = {
    url: redisUrl,
    fleet: config.fleet,
    outboxCap: config.outbox.cap,
    durability: config.redis_durability,
    ...(meter === undefined ? {} : { onRoundTrip: (seconds: number) => meter.redis(seconds) }),
  };
  const { stores, mark } = await openRedisShards(settings, config.shards);
  const shards = stores.length;
  const opened = checkedIfWanted(shardedStore(stores, mark.shards, mark.former));
  const place = { url: redisUrl, fleet: config.fleet, shards, spread: mark.shards };
  const trouble = outageListener(teller, systemClock.now);
  const counted = meter === undefined ? opened : withMeter(opened, meter);
  const queues = new BullWorkQueue(place, config.worker.tries, trouble, { telemetry: tracing?.telemetry });
  const { store, queue } =
    tracing === undefined ? { store: counted, queue: queues } : withTraces(counted, queues, tracing.tracer);
  const parts = { kind: 'fleet', config, redisUrl, store, clock: systemClock, trouble } as const;
  const metrics = counting === undefined ? undefined : metricsOf(parts, counting);
  const { pressure, close: endPressure } = openPressure({
    config,
    store,
    redisUrl,
    clock: systemClock,
    log,
    trouble,
  });
  return {
    kind: 'fleet',
    pressure,
    config,
    store,
    queue,
    clock: systemClock,
    log,
    trouble,
    redisUrl,
    shards,
    observers: { meter, telemetry: tracing?.telemetry },
    ...(metrics === undefined ? {} : { metrics }),
    ...(tracing === undefined ? {} : { tracer: tracing.tracer }),
    async close() {
      await metrics?.close();
      await endPressure();
      await queue.close();
      await store.close();
      await tracing?.tracer.close();
    },
  };
}

/** SLUICE_CHECK_EVENTS=1 holds every event to its schema, as the tests do. */
const checkedIfWanted = (store: Store): Store =>
  process.env.SLUICE_CHECK_EVENTS === '1' ? withCheckedEvents(store) : store;

/** How often the inline engine looks at the deadlines of its plans, in milliseconds. */
const INLINE_SWEEP_MS = 1000;
const INLINE_PLANS_A_SWEEP = 100;

/** Settings of a worker after which no other comes. */
const aloneIn = (config: Config): Config => ({
  ...config,
  worker: { ...config.worker, unserved: 'error' },
});

/** The same use cases in this process, over memory: nothing survives it (DESIGN 8). */
export function openInline(config: Config, log: Logger): Engine {
  const store = checkedIfWanted(openMemoryStore({ outboxCap: Number.POSITIVE_INFINITY }));
  const onError = errorLogger(log);
  let executor: Promise<Executor> | undefined;
  const open = async () => {
    const runners = await openRunners(config);
    return createExecutor(store, aloneIn(config), processName(), runners, onError);
  };
  const queue: InlineQueue = new InlineQueue({
    async run(job) {
      executor ??= open();
      return (await executor).run(job);
    },
    async decide(chunk) {
      await aggregator.decide(chunk);
      await store.outbox.trim(systemClock.now(), Number.POSITIVE_INFINITY, INLINE_EVENTS_KEPT);
    },
    onError,
  });
  const parts = { store, queue, clock: systemClock, config };
  const aggregator = createAggregator(parts);
  const deadlines = { ...parts, keeper: keeperOf(parts), onError };
  const timer = setInterval(() => void sweepPlans(deadlines, INLINE_PLANS_A_SWEEP), INLINE_SWEEP_MS).unref();
  return {
    ...parts,
    kind: 'inline',
    log,
    async close() {
      clearInterval(timer);
      await queue.close();
      await executor?.then((running) => running.close()).catch(onError);
      await store.close();
    },
  };
}

export type { Engine, FleetEngine } from './compose/engine.js';
export { createExecutor, toolCallerOf } from './compose/executor.js';
export { createAggregator, keeperOf, plansOf, registryOf } from './compose/plans.js';
export { type OpenedRunners, openRunners } from './compose/runners.js';
