import { z } from 'zod';
import { makeEvent, type OutboxEvent } from './events.js';

/** Data of these events, by the event's name. */
export const deliveryEventData = {
  'delivery.dead': z.strictObject({
    sink: z.string(),
    event: z.string().describe('Id of the event that was set aside'),
    event_type: z.string(),
    reason: z.string(),
    code: z.string().describe('Stable word for the reason: refused, away, gone, projection'),
    tries: z.number().int().min(0).describe('Tries before it was set aside'),
  }),
  'delivery.disabled': z.strictObject({
    sink: z.string(),
    kind: z.string(),
    target: z.string().describe('Without credentials'),
    reason: z.string(),
  }),
};

/** What a letter says of why it is one. */
interface Failed {
  reason: string;
  /** Stable word for the reason. */
  code: string;
  /** Tries before it was set aside. */
  tries: number;
}

/** delivery.dead: an event could not be delivered to a sink and was set aside. */
export function deliveryDeadEvent(
  fleet: string,
  sink: string,
  event: OutboxEvent,
  failed: Failed,
  now: number,
): OutboxEvent {
  const { reason, code, tries } = failed;
  return makeEvent({
    fleet,
    name: 'delivery.dead',
    subject: event.id,
    revision: sink,
    sequence: 1,
    causation: event.id,
    time: now,
    data: { sink, event: event.id, event_type: event.type, reason, code, tries },
  });
}

/** delivery.disabled: a sink said that it is not there any more; nothing is tried until it is enabled. */
export function deliveryDisabledEvent(
  fleet: string,
  sink: { name: string; kind: string; target: string },
  reason: string,
  now: number,
): OutboxEvent {
  return makeEvent({
    fleet,
    name: 'delivery.disabled',
    subject: sink.name,
    revision: String(now),
    sequence: 1,
    time: now,
    data: { sink: sink.name, kind: sink.kind, target: sink.target, reason },
  });
}
