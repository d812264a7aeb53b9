import type { IncomingMessage } from '../../src/ports/source.js';
import type { Content } from '../buses/content.js';

/** Content type of a CloudEvent that is the whole message. */
export const STRUCTURED = 'application/cloudevents+json';

const PREFIX = 'ce-';

/** Headers hold printable ASCII: everything else, spaces, quotes and percent signs are escaped. */
export const escapeHeader = (text: string): string =>
  text.replace(/[^\u0021-\u007e]|["%]/gu, (char) => {
    const bytes = Buffer.from(char, 'utf8');
    return [...bytes].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });

/** What cannot be decoded stays as it is. */
function unescapeHeader(value: string): string {
  const text = /^".*"$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
  try {
    return decodeURIComponent(text.replace(/%(?![0-9a-fA-F]{2})/g, '%25'));
  } catch {
    return text;
  }
}

/** The headers of a message: in binary mode all attributes, and the content type of the data among them. */
export function headersOf({ contentType, attributes }: Content): [name: string, value: string][] {
  const isBinary = Object.keys(attributes).length > 0;
  if (!isBinary) return contentType === undefined ? [] : [['content-type', contentType]];
  const all = { ...attributes, ...(contentType === undefined ? {} : { datacontenttype: contentType }) };
  return Object.entries(all).map(([name, value]) => [PREFIX + name, escapeHeader(value)]);
}

/**
 * Content type and attributes of a message by the NATS binding of CloudEvents: structured where the content
 * type says so, and where nothing at all says what it is.
 */
export function readHeaders(
  headers: Iterable<[string, string[]]>,
): Pick<IncomingMessage, 'attributes' | 'contentType'> {
  const attributes: Record<string, string> = {};
  let contentType: string | undefined;
  for (const [header, [value]] of headers) {
    const name = header.toLowerCase();
    if (value === undefined) continue;
    if (name === 'content-type') contentType = value;
    else if (name.startsWith(PREFIX)) attributes[name.slice(PREFIX.length)] = unescapeHeader(value);
  }
  if (contentType?.toLowerCase().startsWith('application/cloudevents'))
    return { contentType, attributes: {} };
  if (attributes.specversion === undefined && contentType === undefined)
    return { contentType: STRUCTURED, attributes: {} };
  const type = attributes.datacontenttype ?? contentType;
  return { attributes, ...(type === undefined ? {} : { contentType: type }) };
}
