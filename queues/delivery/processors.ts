import { DelayedError, type Job, Worker } from 'bullmq';
import { backoffMs } from '../../src/core/backoff.js';
import type { Lanes } from '../../src/core/lanes.js';
import type { DeliveryTask, Pace, SinkDelivery } from '../../src/ports/delivery.js';
import { patiently } from '../patience.js';
import { deliverPayloadSchema, redrivePayloadSchema } from '../payloads.js';
import { pause } from './pause.js';

/** Longest pause of a lane before it tries again after trouble of our own. */
const LONGEST_WAIT_MS = 5000;

export interface ProcessorDeps {
  delivery: SinkDelivery;
  pace: Pace;
  onError: (error: Error) => void;
  /** Puts further tasks into the queue. */
  add(tasks: readonly { task: DeliveryTask; afterMs: number }[]): Promise<void>;
  /** Deliveries in hand of a sink that keeps order, over its lanes. */
  turns: Lanes;
  /** Ends waiting in a lane. */
  closing: AbortSignal;
}

/** BullMQ passes the AbortSignal only to processors that declare three parameters. */
export type Processor = (
  job: Job,
  token: string | undefined,
  signal: AbortSignal | undefined,
) => Promise<void>;

/**
 * Without a use of the job's attempts it goes back to the front of its queue, for the next who starts. A
 * task that cannot be written is put back as it was: that is more, never less.
 */
async function putBack(
  job: Job,
  task: DeliveryTask | undefined,
  onError: (error: Error) => void,
): Promise<never> {
  if (task !== undefined) await job.updateData(task).catch(onError);
  throw Worker.RateLimitError();
}

function taskOf(job: Job): DeliveryTask {
  const { positions, tries, awayAt } = deliverPayloadSchema.parse(job.data);
  return { positions, ...(tries && { tries }), ...(awayAt && { awayAt }) };
}

function never(): AbortSignal {
  return new AbortController().signal;
}

async function redrive({ delivery, pace, onError }: ProcessorDeps, job: Job, signal: AbortSignal) {
  const { letters } = redrivePayloadSchema.parse(job.data);
  const isTried = await patiently(() => delivery.redeliver(letters, signal, pace), signal, onError);
  if (!isTried) await putBack(job, undefined, onError);
}

/** Delivers tasks in any order: one that failed waits in the queue, and others go on meanwhile. */
export function anyOrder(deps: ProcessorDeps): Processor {
  const { delivery, pace, onError, add } = deps;
  return async (job, token, signal = never()) => {
    if ('letters' in job.data) return redrive(deps, job, signal);
    const task = taskOf(job);
    const step = await patiently(() => delivery.deliver(task, signal, pace), signal, onError);
    if (step.kind === 'done') return;
    if (step.kind === 'stopped') return putBack(job, step.task, onError);
    const [first, ...others] = step.tasks;
    if (first === undefined) return;
    const keep = async () => {
      await add(others);
      await job.updateData(first.task);
    };
    await patiently(keep, signal, onError);
    await job.moveToDelayed(Date.now() + first.afterMs, token);
    throw new DelayedError();
  };
}

/**
 * Does the work until it succeeds, whatever it throws: BullMQ would set a job that fails aside for a
 * while, and those behind it would overtake it. Undefined: delivery ends.
 */
async function inPlace<T>(
  { closing, onError }: ProcessorDeps,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  for (let n = 1; ; n++) {
    try {
      return await work();
    } catch (error) {
      if (closing.aborted || signal.aborted) return undefined;
      onError(error as Error);
      await pause(backoffMs(n, Math.random(), LONGEST_WAIT_MS), [closing, signal]);
    }
  }
}

/**
 * Delivers the tasks of a lane one after the other: one that failed keeps its place, and those behind it
 * wait. The lane's queue has one job in hand at a time over all dispatchers, and a stalled one goes back
 * to its front.
 */
export function inOrder(deps: ProcessorDeps): Processor {
  const { delivery, pace, onError, turns, closing } = deps;
  return async (job, _token, signal = never()) => {
    let task = taskOf(job);
    for (;;) {
      const step = await inPlace(deps, signal, () => turns.run(() => delivery.deliver(task, signal, pace)));
      if (step === undefined) return putBack(job, undefined, onError);
      if (step.kind === 'done') return;
      if (step.kind === 'stopped') return putBack(job, step.task, onError);
      const [next] = step.tasks;
      if (next === undefined) return;
      task = next.task;
      // Where this fails the job holds more than is left: whoever takes it over delivers some again.
      await job.updateData(task).catch(onError);
      if (next.afterMs > 0) await pause(next.afterMs, [closing, signal]);
      if (closing.aborted || signal.aborted) return putBack(job, undefined, onError);
    }
  };
}
