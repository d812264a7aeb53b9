import { sha256 } from '../../src/core/digest.js';
import {
  BATCHED_TYPE,
  encodeAttribute,
  HEADER_PREFIX,
  isCloudEvent,
  STRUCTURED_TYPE,
} from '../../src/core/http-binding.js';
import type { OutgoingEvent } from '../../src/ports/sink.js';

/** What one request carries. */
export interface Message {
  /** `webhook-id`: the same for the same events. */
  id: string;
  headers: Record<string, string>;
  body: string;
}

export type Mode = 'structured' | 'binary' | 'batched';

const JSON_TYPE = 'application/json';
const ATTRIBUTE = /^[a-z0-9]+$/;

/** What is sent of an event: what the projection made of it, else the CloudEvent. */
export const contentOf = ({ projected, json }: OutgoingEvent): string => projected ?? json;

/** A projection may yield a CloudEvent again, or anything else. */
const isEvent = (event: OutgoingEvent) =>
  event.projected === undefined || isCloudEvent(JSON.parse(event.projected));

/** Attributes in headers, the data as the body: what is no CloudEvent is the data of the one it was made of. */
function binary(event: OutgoingEvent, whole: boolean): Message {
  const content = JSON.parse(whole ? contentOf(event) : event.json) as Record<string, unknown>;
  const { data, datacontenttype, ...attributes } = content;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
    if (isScalar && ATTRIBUTE.test(name)) headers[HEADER_PREFIX + name] = encodeAttribute(String(value));
  }
  headers['content-type'] = whole && typeof datacontenttype === 'string' ? datacontenttype : JSON_TYPE;
  if (!whole) return { id: event.id, headers, body: contentOf(event) };
  return { id: event.id, headers, body: data === undefined ? '' : JSON.stringify(data) };
}

function batched(events: readonly OutgoingEvent[]): Message {
  const ids = events.map(({ id }) => id);
  return {
    id: ids.length === 1 && ids[0] !== undefined ? ids[0] : sha256(ids.join('\n')).slice(0, 32),
    headers: { 'content-type': BATCHED_TYPE },
    body: `[${events.map(contentOf).join(',')}]`,
  };
}

/** The events of one group as one request. A projection that is no CloudEvent goes in binary mode always. */
export function messageOf(mode: Mode, events: readonly OutgoingEvent[]): Message {
  const [first] = events;
  if (events.length !== 1 || first === undefined) return batched(events);
  if (!isEvent(first)) return binary(first, false);
  if (mode === 'batched') return batched(events);
  // Binary data cannot be signed as text, nor read as JSON: it stays inside the event.
  const isText = mode === 'binary' && !('data_base64' in JSON.parse(contentOf(first)));
  if (isText) return binary(first, true);
  return { id: first.id, headers: { 'content-type': STRUCTURED_TYPE }, body: contentOf(first) };
}

/**
 * Events in the groups that go out together, in order: at most `most` each, of `mostBytes` as a list. What
 * is no CloudEvent goes alone.
 */
export function groupsOf(
  events: readonly OutgoingEvent[],
  most: number,
  mostBytes: number,
): OutgoingEvent[][] {
  const groups: OutgoingEvent[][] = [];
  let room = 0;
  for (const event of events) {
    // One more for the comma, or for the bracket at the end.
    const bytes = Buffer.byteLength(contentOf(event)) + 1;
    const fits = isEvent(event) && bytes <= room;
    const last = groups.at(-1);
    if (last !== undefined && fits && last.length < most) {
      last.push(event);
      room -= bytes;
    } else {
      groups.push([event]);
      room = isEvent(event) ? mostBytes - 1 - bytes : 0;
    }
  }
  return groups;
}
