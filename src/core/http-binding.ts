/** Media types of CloudEvents over HTTP (HTTP protocol binding 1.0). */
export const STRUCTURED_TYPE = 'application/cloudevents+json';
export const BATCHED_TYPE = 'application/cloudevents-batch+json';

/** Prefix of the headers that carry attributes in binary mode. */
export const HEADER_PREFIX = 'ce-';

/** What does not stand in a header as it is: space, `"`, `%`, and all but printable ASCII. */
const ENCODED = /[^\x21\x23\x24\x26-\x7e]/gu;
const ESCAPE_RUN = /(?:%[0-9a-fA-F]{2})+/g;

const hex = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;

/** An attribute as the value of a header: its UTF-8, percent-encoded where the binding says so. */
export function encodeAttribute(value: string): string {
  return value.replace(ENCODED, (character) => [...new TextEncoder().encode(character)].map(hex).join(''));
}

/** The attribute that a header carries; bytes that are no UTF-8 become U+FFFD. */
export function decodeAttribute(header: string): string {
  const quoted = /^"(.*)"$/s.exec(header.trim());
  const text = quoted?.[1] === undefined ? header.trim() : quoted[1].replace(/\\(.)/gs, '$1');
  return text.replace(ESCAPE_RUN, (run) => {
    const bytes = run.match(/[0-9a-fA-F]{2}/g) ?? [];
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)),
    );
  });
}

/** Whether a JSON value is a CloudEvent 1.0, by the attributes that each must have. */
export function isCloudEvent(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const event = value as Record<string, unknown>;
  const isText = (name: string) => typeof event[name] === 'string' && event[name] !== '';
  return event.specversion === '1.0' && isText('id') && isText('source') && isText('type');
}
