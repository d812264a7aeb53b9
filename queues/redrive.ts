import type { Queue } from 'bullmq';
import { sha256 } from '../src/core/digest.js';
import { openQueue } from './connection.js';
import { deliveryQueue } from './names.js';
import type { RedrivePayload } from './payloads.js';
import { connect, type QueuePlace } from './redis.js';

/** Runs of a redrive before trouble with Redis ends it: the letter is still there. */
const TRIES = 5;
/** Jobs added at a time. */
const AT_A_TIME = 200;

export interface Redriver {
  /** Has dead letters of a sink delivered once more, `perSecond` at most; one that waits for it already is not added again. */
  enqueue(endpoint: string, ids: readonly string[], perSecond: number): Promise<void>;
  close(): Promise<void>;
}

/** Puts dead letters into the queues of their sinks, whose dispatchers deliver them. */
export function openRedriver(place: QueuePlace, onError: (error: Error) => void): Redriver {
  const connection = connect(place.url, onError);
  const queues = new Map<string, { queue: Queue; free: number }>();
  const queueOf = (endpoint: string) => {
    const known = queues.get(endpoint);
    if (known !== undefined) return known;
    const queue = openQueue(connection, place.fleet, deliveryQueue(endpoint));
    queue.on('error', onError);
    const opened = { queue, free: 0 };
    queues.set(endpoint, opened);
    return opened;
  };
  return {
    async enqueue(endpoint, ids, perSecond) {
      const own = queueOf(endpoint);
      for (let from = 0; from < ids.length; from += AT_A_TIME) {
        const adding = ids.slice(from, from + AT_A_TIME).map((id) => {
          const now = Date.now();
          const at = Math.max(now, own.free);
          own.free = at + 1000 / perSecond;
          return own.queue.add('redrive', { letters: [id] } satisfies RedrivePayload, {
            jobId: `letter-${sha256(id).slice(0, 32)}`,
            attempts: TRIES,
            backoff: { type: 'exponential', delay: 1000 },
            delay: Math.floor(at - now),
            removeOnComplete: true,
            // No flow waits for it, and the letter itself stays.
            removeOnFail: true,
          });
        });
        await Promise.all(adding);
      }
    },
    async close() {
      await Promise.allSettled([...queues.values()].map(({ queue }) => queue.close()));
      connection.disconnect();
    },
  };
}
