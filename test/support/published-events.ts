import type { IncomingMessage } from '../../src/ports/source.js';

/** How a CloudEvent stands in a message: as the whole body, or with its attributes beside the data. */
export type MessageMode = 'structured' | 'binary';

/** A CloudEvent that a test publishes. */
export interface PublishedEvent {
  id: string;
  source: string;
  type: string;
  data: Record<string, unknown>;
}

export const publishedEvents = (count: number): PublishedEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `message-${String(n).padStart(6, '0')}`,
    source: '/test/é',
    type: 'dev.sluice.plan.created.v1',
    data: { n, text: 'é "quoted" 日本' },
  }));

/** The whole CloudEvent of a published one, in JSON format. */
export const structured = ({ id, source, type, data }: PublishedEvent): string =>
  JSON.stringify({ specversion: '1.0', id, source, type, datacontenttype: 'application/json', data });

const textOf = ({ body }: IncomingMessage) => Buffer.from(body).toString('utf8');

/** The id of a message's CloudEvent, in either mode. */
export const idOf = (message: IncomingMessage): string =>
  message.attributes.id ?? (JSON.parse(textOf(message)) as { id: string }).id;

/** The CloudEvent that a message carries, in either mode. */
export function eventOf(message: IncomingMessage): PublishedEvent {
  const isStructured = message.attributes.id === undefined;
  const value = isStructured
    ? (JSON.parse(textOf(message)) as Record<string, unknown>)
    : { ...message.attributes, data: JSON.parse(textOf(message)) as unknown };
  const { id, source, type, data } = value as unknown as PublishedEvent;
  return { id, source, type, data };
}
