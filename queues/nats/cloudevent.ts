import { encodeAttribute, HEADER_PREFIX, STRUCTURED_TYPE } from '../../src/core/http-binding.js';
import type { IncomingMessage } from '../../src/ports/source.js';
import type { Content } from '../buses/content.js';

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
  return Object.entries(all).map(([name, value]) => [HEADER_PREFIX + name, encodeAttribute(value)]);
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
    else if (name.startsWith(HEADER_PREFIX))
      attributes[name.slice(HEADER_PREFIX.length)] = unescapeHeader(value);
  }
  if (contentType?.toLowerCase().startsWith('application/cloudevents'))
    return { contentType, attributes: {} };
  if (attributes.specversion === undefined && contentType === undefined)
    return { contentType: STRUCTURED_TYPE, attributes: {} };
  const type = attributes.datacontenttype ?? contentType;
  return { attributes, ...(type === undefined ? {} : { contentType: type }) };
}
