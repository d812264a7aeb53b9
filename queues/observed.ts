import type { Job, Telemetry, Worker } from 'bullmq';
import type { Meter } from '../src/ports/meter.js';
import { packPayloadSchema } from './payloads.js';

/** Who looks on at the queues of this process; by default nobody. */
export interface Observers {
  meter?: Meter | undefined;
  /** Carries traces in jobs. */
  telemetry?: Telemetry | undefined;
}

const secondsOf = ({ processedOn, finishedOn = Date.now() }: Job): number =>
  Math.max(0, finishedOn - (processedOn ?? finishedOn)) / 1000;

/** Counts the jobs of a worker that fail or are tried again, and those that it finds left behind. */
export function countJobs(worker: Worker, meter: Meter): void {
  worker.on('stalled', () => meter.stalled(worker.name));
  worker.on('failed', (job) => {
    if (job === undefined) return;
    const isLast = job.attemptsMade >= (job.opts.attempts ?? 1);
    if (!isLast) meter.retried(worker.name);
    const read = packPayloadSchema.safeParse(job.data);
    if (!read.success) return;
    const { from, to } = read.data.pack;
    meter.pack(worker.name, isLast ? 'failed' : 'retried', secondsOf(job), to - from);
  });
}
