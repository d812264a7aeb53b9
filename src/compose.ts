import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Config } from '../config/schema.js';
import { BullWorkQueue } from '../queues/work-queue.js';
import { Aggregator } from './app/decide.js';
import { Executor } from './app/execute.js';
import { type OutageListener, type OutageTeller, outageListener } from './app/outage.js';
import { InlineQueue } from './inline/queue.js';
import type { Clock } from './ports/clock.js';
import type { WorkQueue } from './ports/queue.js';
import type { Store } from './ports/store.js';
import { LocalAnsibleRunner } from './runners/ansible.js';
import { CoalescingMatcher } from './runners/coalescing-matcher.js';
import { createMatcher } from './runners/pattern-matcher.js';
import { openMemoryStore } from './store/memory/index.js';
import { openRedisStore } from './store/redis/index.js';

const ANSIBLE_GRACE_MS = 2000;
/** Events that the inline engine keeps when no sink reads them. */
export const INLINE_EVENTS_KEPT = 10_000;

export const systemClock: Clock = { now: () => Date.now() };

/** What every face and worker is built from. */
export interface Engine {
  kind: 'fleet' | 'inline';
  config: Config;
  store: Store;
  queue: WorkQueue;
  clock: Clock;
  log: Logger;
  close(): Promise<void>;
}

/** An engine on a Redis, shared with every other process of its fleet. */
export interface FleetEngine extends Engine {
  kind: 'fleet';
  queue: BullWorkQueue;
  redisUrl: string;
  /** Hears of trouble on any connection of this process. */
  trouble: OutageListener;
}

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

/**
 * Opens a fleet; throws REDIS_UNREACHABLE, REDIS_VERSION or REDIS_POLICY. `teller` hears of
 * infrastructure trouble; default: the log.
 */
export async function openFleet(
  config: Config,
  redisUrl: string,
  log: Logger,
  teller: OutageTeller = troubleLog(log),
): Promise<FleetEngine> {
  const settings = { url: redisUrl, fleet: config.fleet, outboxCap: config.outbox.cap };
  const store = await openRedisStore(settings);
  const place = { url: redisUrl, fleet: config.fleet };
  const trouble = outageListener(teller, systemClock.now);
  const queue = new BullWorkQueue(place, config.worker.tries, trouble);
  return {
    kind: 'fleet',
    config,
    store,
    queue,
    clock: systemClock,
    log,
    trouble,
    redisUrl,
    async close() {
      await queue.close();
      await store.close();
    },
  };
}

export function createExecutor(store: Store, config: Config, worker: string): Executor {
  const { ansible, patterns } = config;
  return new Executor({
    store: store.evaluations,
    matcher: new CoalescingMatcher(createMatcher({ deadlineMs: patterns.deadline })),
    ansible: new LocalAnsibleRunner({
      deadlineMs: ansible.deadline,
      graceMs: ANSIBLE_GRACE_MS,
      outputCap: ansible.output_cap,
    }),
    worker,
    poisonousAfter: config.worker.poisonous_after,
  });
}

export function createAggregator(store: Store, config: Config, clock: Clock): Aggregator {
  return new Aggregator({ store, clock, fleet: config.fleet, events: { perCheck: config.events.per_check } });
}

/** The same use cases in this process, over memory: nothing survives it (DESIGN 8). */
export function openInline(config: Config, log: Logger): Engine {
  const store = openMemoryStore({ outboxCap: Number.POSITIVE_INFINITY });
  const executor = createExecutor(store, config, processName());
  const aggregator = createAggregator(store, config, systemClock);
  const queue = new InlineQueue({
    run: (job) => executor.run(job),
    async decide(chunk) {
      await aggregator.decide(chunk);
      await store.outbox.trim(systemClock.now(), Number.POSITIVE_INFINITY, INLINE_EVENTS_KEPT);
    },
    onError: errorLogger(log),
  });
  return {
    kind: 'inline',
    config,
    store,
    queue,
    clock: systemClock,
    log,
    async close() {
      await queue.close();
      await store.close();
    },
  };
}
