import { type Job, Worker } from 'bullmq';
import { backoffMs } from '../src/core/backoff.js';
import type { DeliveryRest, SinkDelivery } from '../src/ports/delivery.js';
import { openQueue, workerOptions } from './connection.js';
import type { Consumer, ConsumerDeps } from './consumers.js';
import { deliveryQueue } from './names.js';
import { type DeliverPayload, deliverPayloadSchema } from './payloads.js';
import { connect } from './redis.js';

/** Tries of setting an event aside, after those of delivering it: until then it is neither. */
const GIVE_UP_TRIES = 20;

/** A try that left something undelivered; carries how long the receiver asked us to wait. */
class Undelivered extends Error {
  readonly retryAfterMs: number;

  constructor(rest: DeliveryRest) {
    super(`${rest.positions.length} events not delivered: ${rest.reason}`);
    this.retryAfterMs = rest.retryAfterMs ?? 0;
  }
}

export interface DeliverySettings {
  /** Tries before an event is a dead letter. */
  tries: number;
  /** Milliseconds that the claim waits for something new. */
  waitMs: number;
}

async function deliverJob(delivery: SinkDelivery, job: Job, tries: number): Promise<void> {
  const { positions } = deliverPayloadSchema.parse(job.data);
  const rest = await delivery.deliver(positions);
  if (rest === undefined) return;
  if (job.attemptsMade + 1 >= tries) return delivery.giveUp(rest);
  await job.updateData({ positions: rest.positions } satisfies DeliverPayload);
  throw new Undelivered(rest);
}

/**
 * Brings the outbox to one sink: a consumer group claims, a delivery queue tries, waits and tries
 * again; what is exhausted becomes a dead letter (DESIGN 5.5). Order is kept within a delivery.
 */
export function dispatchTo(
  deps: ConsumerDeps & { consumer: string },
  delivery: SinkDelivery,
  settings: DeliverySettings,
): Consumer {
  const connection = connect(deps.place.url, deps.onError);
  const name = deliveryQueue(delivery.name);
  const queue = openQueue(connection, deps.place.fleet, name);
  queue.on('error', deps.onError);
  const worker = new Worker(name, (job, _token, _signal) => deliverJob(delivery, job, settings.tries), {
    ...workerOptions(connection, deps.place.fleet, deps.stall, 1),
    settings: {
      backoffStrategy: (made, _type, error) =>
        backoffMs(made ?? 1, Math.random(), error instanceof Undelivered ? error.retryAfterMs : 0),
    },
  });
  worker.on('error', deps.onError);
  const hand = async (positions: string[]) => {
    await queue.add('deliver', { positions } satisfies DeliverPayload, {
      jobId: `${positions[0]}_${positions.at(-1)}_${positions.length}`,
      attempts: settings.tries + GIVE_UP_TRIES,
      backoff: { type: 'custom' },
      removeOnComplete: true,
    });
  };
  let open = true;
  const claiming = (async () => {
    while (open) {
      try {
        await delivery.claim(deps.consumer, settings.waitMs, hand);
      } catch (error) {
        if (!open) return;
        deps.onError(error as Error);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  })();
  return {
    async drain(deadlineMs) {
      open = false;
      await Promise.race([claiming, new Promise((resolve) => setTimeout(resolve, deadlineMs).unref())]);
      await Promise.race([worker.close(), new Promise((resolve) => setTimeout(resolve, deadlineMs).unref())]);
      await Promise.allSettled([queue.close(), delivery.close()]);
      connection.disconnect();
    },
  };
}
