import { z } from 'zod';
import type { OutgoingEvent } from '../../src/ports/sink.js';

/** How an event stands in a message. */
export const modeSchema = z
  .enum(['structured', 'binary'])
  .default('structured')
  .describe('structured: the CloudEvent is the body; binary: its data is, its attributes stand beside');
export type Mode = z.output<typeof modeSchema>;

/** What a message carries. */
export interface Content {
  body: Buffer;
  contentType?: string;
  /** Attributes of the CloudEvent that stand beside the body; in binary mode alone. */
  attributes: Record<string, string>;
}

const STRUCTURED_TYPE = 'application/cloudevents+json; charset=utf-8';
const JSON_TYPE = 'application/json';

/** The content of a message for an event. What was projected is sent as it is, in either mode. */
export function contentOf({ json, projected }: OutgoingEvent, mode: Mode): Content {
  if (projected !== undefined)
    return { body: Buffer.from(projected), contentType: JSON_TYPE, attributes: {} };
  if (mode === 'structured') return { body: Buffer.from(json), contentType: STRUCTURED_TYPE, attributes: {} };
  const { data, data_base64, datacontenttype, ...rest } = JSON.parse(json) as Record<string, unknown>;
  const attributes = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  if (typeof data_base64 === 'string')
    return { body: Buffer.from(data_base64, 'base64'), ...typeOf(datacontenttype), attributes };
  if (data === undefined) return { body: Buffer.alloc(0), ...typeOf(datacontenttype), attributes };
  return { body: Buffer.from(JSON.stringify(data)), contentType: JSON_TYPE, attributes };
}

const typeOf = (contentType: unknown) => (typeof contentType === 'string' ? { contentType } : {});
