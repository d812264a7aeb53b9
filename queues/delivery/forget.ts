import { LANES } from '../../src/core/delivery-order.js';
import { openQueue } from '../connection.js';
import { deliveryQueue } from '../names.js';
import { connect, type QueuePlace } from '../redis.js';

/**
 * Removes all that the queues of a sink left in Redis, with the jobs in them. Nobody may deliver to the
 * sink any more.
 */
export async function forgetDelivery(
  place: QueuePlace,
  sink: string,
  onError: (error: Error) => void,
): Promise<void> {
  const connection = connect(place.url, onError);
  try {
    for (const lane of [undefined, ...Array.from({ length: LANES }, (_, n) => n)]) {
      const queue = openQueue(connection, place.fleet, deliveryQueue(sink, lane));
      queue.on('error', onError);
      // It writes its settings as it opens: those are to be removed too.
      await queue.waitUntilReady();
      await queue.obliterate({ force: true });
      await queue.close();
    }
  } finally {
    connection.disconnect();
  }
}
