import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { backoffMs } from '../src/core/backoff.js';
import { LANES } from '../src/core/delivery-order.js';
import { sha256 } from '../src/core/digest.js';
import { Lanes } from '../src/core/lanes.js';
import type { DeliveryPage, DeliveryTask, SinkDelivery } from '../src/ports/delivery.js';
import { openQueue, workerOptions } from './connection.js';
import { type Consumer, type ConsumerDeps, closeWithin } from './consumers.js';
import { paceOf } from './delivery/pace.js';
import { pause } from './delivery/pause.js';
import { anyOrder, inOrder, type Processor, type ProcessorDeps } from './delivery/processors.js';
import { deliveryQueue, queuePrefix } from './names.js';
import { connect } from './redis.js';

/** Jobs that wait, above which nothing more is claimed: it stays in the outbox. */
const ENOUGH = 20;
/** The same of one lane while others are hungry: one that waits for its first event starves no other. */
const ENOUGH_OF_A_LANE = 1000;
const HUNGRY_LANE = 5;
const LOOK_AGAIN_MS = 500;
/**
 * Tries and waits are counted by delivery itself, in the job's data; what BullMQ counts are errors of our
 * own, and stalls when dispatchers die. Neither may ever end a delivery: it would be lost.
 */
const ENDLESS = 1_000_000;
const LONGEST_RETRY_MS = 30_000;

export interface DeliverySettings {
  /** Milliseconds that the claim waits for something new. */
  waitMs: number;
}

type Deps = ConsumerDeps & { consumer: string };

/** The same entries with the same history are one job, however often they are handed over. */
function jobIdOf({ positions }: DeliveryTask): string {
  return `${positions[0]}_${sha256(positions.join(' ')).slice(0, 24)}`;
}

async function addTask(queue: Queue, task: DeliveryTask, afterMs: number): Promise<void> {
  await queue.add('deliver', task, {
    jobId: jobIdOf(task),
    attempts: ENDLESS,
    backoff: { type: 'custom' },
    removeOnComplete: true,
    ...(afterMs > 0 ? { delay: afterMs } : {}),
  });
}

function openWorker(
  deps: Deps,
  connection: Redis,
  queue: Queue,
  concurrency: number,
  process: Processor,
  progress: EventEmitter,
): Worker {
  const worker = new Worker(queue.name, (job, token, signal) => process(job, token, signal), {
    ...workerOptions(connection, deps.place.fleet, { ...deps.stall, maxStalls: ENDLESS }, concurrency),
    settings: { backoffStrategy: (made) => backoffMs(made ?? 1, Math.random(), LONGEST_RETRY_MS) },
  });
  worker.on('error', deps.onError);
  worker.on('completed', () => progress.emit('job'));
  return worker;
}

/** Jobs that wait, and whether that is enough. */
async function waitingIn(main: Queue, lanes: readonly Queue[]): Promise<{ jobs: number; enough: boolean }> {
  if (lanes.length === 0) {
    const jobs = await main.getWaitingCount();
    return { jobs, enough: jobs >= ENOUGH };
  }
  const counts = await Promise.all(lanes.map((lane) => lane.getWaitingCount()));
  const enough = Math.min(...counts) >= HUNGRY_LANE || Math.max(...counts) >= ENOUGH_OF_A_LANE;
  return { jobs: counts.reduce((sum, count) => sum + count, 0), enough };
}

/** Hands pages to the queues; throws when any could not be added, and then all are handed over again. */
function handTo(main: Queue, lanes: readonly Queue[]): (pages: DeliveryPage[]) => Promise<void> {
  return async (pages) => {
    await Promise.all(
      pages.map(({ positions, lane }) => addTask(lanes[lane ?? -1] ?? main, { positions }, 0)),
    );
  };
}

/**
 * Brings the outbox to one sink: a consumer group claims, a delivery queue holds what waits, tries and
 * tries again; what is exhausted becomes a dead letter (DESIGN 5.5). While the sink is away the jobs in hand
 * wait for it in their processors. BullMQ's manual rate limit is no help: without a limiter only the worker
 * that set it heeds it, any job that ends there resets it, and after it all go on at once, not one as a probe.
 */
export function dispatchTo(deps: Deps, delivery: SinkDelivery, settings: DeliverySettings): Consumer {
  const { place, onError } = deps;
  const connection = connect(place.url, onError);
  const open = (lane?: number) => {
    const queue = openQueue(connection, place.fleet, deliveryQueue(delivery.name, lane));
    queue.on('error', onError);
    return queue;
  };
  const main = open();
  const lanes = delivery.order === 'subject' ? Array.from({ length: LANES }, (_, lane) => open(lane)) : [];
  const closing = new AbortController();
  const progress = new EventEmitter();
  const processing: ProcessorDeps = {
    delivery,
    pace: paceOf(
      connection,
      `${queuePrefix(place.fleet)}:rate:${delivery.name}`,
      delivery.rate,
      closing.signal,
    ),
    onError,
    async add(tasks) {
      await Promise.all(tasks.map(({ task, afterMs }) => addTask(main, task, afterMs)));
    },
    turns: new Lanes(delivery.concurrency),
    closing: closing.signal,
  };
  const workers = [openWorker(deps, connection, main, delivery.concurrency, anyOrder(processing), progress)];
  const opening = (async () => {
    // Before any worker takes a job of a lane.
    await Promise.all(lanes.map((lane) => lane.setGlobalConcurrency(1)));
    if (closing.signal.aborted) return;
    for (const lane of lanes)
      workers.push(openWorker(deps, connection, lane, 1, inOrder(processing), progress));
  })().catch(onError);
  const claiming = claimUntil(closing.signal, deps, delivery, settings, { main, lanes, progress });
  return {
    async drain(deadlineMs) {
      closing.abort();
      await delivery.stop(deps.consumer).catch(onError);
      const late = delay(deadlineMs, undefined, { ref: false });
      await Promise.race([Promise.all([opening, claiming]), late]);
      await closeWithin(workers, deadlineMs);
      await Promise.allSettled([main, ...lanes].map((queue) => queue.close()));
      await delivery.close().catch(onError);
      connection.disconnect();
    },
  };
}

/** Claims for as long as what was claimed gets through. */
async function claimUntil(
  closing: AbortSignal,
  deps: Deps,
  delivery: SinkDelivery,
  { waitMs }: DeliverySettings,
  { main, lanes, progress }: { main: Queue; lanes: readonly Queue[]; progress: EventEmitter },
): Promise<void> {
  const hand = handTo(main, lanes);
  while (!closing.aborted) {
    try {
      const { jobs, enough } = await waitingIn(main, lanes);
      // Other dispatchers work on them too, so that it looks again by itself.
      if (enough) await pause(LOOK_AGAIN_MS, [closing], { of: progress, name: 'job' });
      else await delivery.claim(deps.consumer, { waitMs, leadMs: deps.stall.lockMs, idle: jobs === 0 }, hand);
    } catch (error) {
      if (closing.aborted) return;
      deps.onError(error as Error);
      await pause(LOOK_AGAIN_MS, [closing]);
    }
  }
}
