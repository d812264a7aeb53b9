import { deliveryDeadEvent } from '../../core/delivery-events.js';
import { subjectOf } from '../../core/delivery-order.js';
import { EVENT_PREFIX, EVENT_VERSION } from '../../core/events.js';
import type { OutboxEntry } from '../../ports/store.js';
import type { DeliverDeps, SinkReader } from './reader.js';

const DEAD = `${EVENT_PREFIX}delivery.dead${EVENT_VERSION}`;

/** An entry that is given up, and why. */
export interface GivenUp {
  entry: OutboxEntry;
  code: string;
  reason: string;
  response: string | null;
  tries: number;
}

/** Sets entries aside as dead letters, so that they hold up nothing behind them. No notice follows a notice. */
export async function bury(
  { letters, outbox, clock, fleet, meter }: DeliverDeps,
  reader: SinkReader,
  given: readonly GivenUp[],
): Promise<void> {
  if (given.length === 0) return;
  const now = clock.now();
  await Promise.all(
    given.map(({ entry: { event }, code, reason, response, tries }) => {
      const failed = { reason, code, tries };
      const notice =
        event.type === DEAD ? undefined : deliveryDeadEvent(fleet, reader.name, event, failed, now);
      const letter = {
        direction: 'out' as const,
        endpoint: reader.name,
        id: event.id,
        type: event.type,
        subject: subjectOf(event),
        ...failed,
        response,
        at: now,
        redriven: 0,
        content: event.json,
      };
      return letters.put(letter, notice);
    }),
  );
  const { name, describe } = reader;
  meter?.deliveries({ name, kind: describe.kind }, { delivered: 0, retried: 0, dead: given.length });
  await outbox.letGo(
    reader.name,
    given.map(({ entry }) => entry.position),
  );
}
