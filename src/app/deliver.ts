import type { SinkDelivery } from '../ports/delivery.js';
import { claimForDelivery } from './delivery/claim.js';
import { Delivering } from './delivery/delivering.js';
import { SinkGate } from './delivery/gate.js';
import { observedReader } from './delivery/observed-sink.js';
import type { DeliverDeps, SinkReader } from './delivery/reader.js';
import { redeliver } from './delivery/redeliver.js';

export type { DeliverDeps, SinkReader } from './delivery/reader.js';

/** The steps that bring a fleet's outbox to one sink. */
export function deliveryTo(deps: DeliverDeps, given: SinkReader): SinkDelivery {
  const reader = observedReader(deps, given);
  const gate = new SinkGate(deps, reader);
  const delivering = new Delivering(deps, reader, gate);
  return {
    name: reader.name,
    order: reader.order,
    concurrency: reader.concurrency,
    rate: reader.rate,
    claim: (consumer, settings, hand) => claimForDelivery(deps, reader, gate, consumer, settings, hand),
    deliver: (task, signal, pace) => delivering.deliver(task, signal, pace),
    redeliver: (letters, signal, pace) => redeliver(deps, reader, gate, letters, signal, pace),
    async stop(consumer) {
      gate.close();
      if (reader.order === 'subject') await deps.outbox.endLead(reader.name, consumer);
    },
    async close() {
      gate.close();
      await reader.sink.close();
    },
  };
}
