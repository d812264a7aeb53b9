import { Queue, type QueueOptions, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { queuePrefix } from './names.js';

/** BullMQ's event stream is for people who look on; nothing is decided on it (DESIGN 5.7). */
const EVENTS_KEPT = 1000;

export function openQueue(connection: Redis, fleet: string, name: string, shard = 0): Queue {
  const options: QueueOptions = {
    connection,
    prefix: queuePrefix(fleet, shard),
    streams: { events: { maxLen: EVENTS_KEPT } },
  };
  return new Queue(name, options);
}

/** How long a worker may be silent before its job is given to another. */
export interface StallSettings {
  /** Milliseconds that a job is locked; renewed at half of it. */
  lockMs: number;
  /** Milliseconds between looks for jobs whose lock ran out. */
  stalledIntervalMs: number;
  /** Times that a job may stall before it fails: ignores `attempts`. */
  maxStalls: number;
}

export function workerOptions(
  connection: Redis,
  fleet: string,
  stall: StallSettings,
  concurrency: number,
  shard = 0,
): WorkerOptions {
  return {
    connection,
    prefix: queuePrefix(fleet, shard),
    concurrency,
    lockDuration: stall.lockMs,
    stalledInterval: stall.stalledIntervalMs,
    maxStalledCount: stall.maxStalls,
  };
}
