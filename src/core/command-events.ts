import { z } from 'zod';
import { makeEvent, type OutboxEvent } from './events.js';

/** Data of these events, by the event's name. */
export const commandEventData = {
  'command.refused': z.strictObject({
    endpoint: z.string().describe('Name of the source that it came from'),
    letter: z.string().describe('Id of the dead letter that keeps it'),
    code: z.string().describe('Stable word for the reason'),
    reason: z.string(),
    id: z.string().nullable().describe('Of the CloudEvent; null: it was none'),
    source: z.string().nullable().describe('Of the CloudEvent; null: it was none'),
    type: z.string().nullable().describe('Of the CloudEvent; null: it was none'),
  }),
};

/** A message that was set aside, and what is known of the CloudEvent in it. */
export interface RefusedCommand {
  endpoint: string;
  letter: string;
  code: string;
  reason: string;
  id: string | null;
  source: string | null;
  type: string | null;
}

/** command.refused: a message from a bus is no command that can be taken, and was set aside; `now` in ms. */
export function commandRefusedEvent(fleet: string, refused: RefusedCommand, now: number): OutboxEvent {
  const { endpoint, letter, code, reason, id, source, type } = refused;
  return makeEvent({
    fleet,
    name: 'command.refused',
    subject: letter,
    // With the time: the same message may be refused again after its letter was redriven.
    revision: `${endpoint}@${now}`,
    sequence: 1,
    ...(id === null ? {} : { causation: id }),
    time: now,
    data: { endpoint, letter, code, reason, id, source, type },
  });
}
