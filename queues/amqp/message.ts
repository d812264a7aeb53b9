/** A message as the client of AMQP hands it over. */
export interface AmqpBody {
  body: unknown;
  contentType?: string | undefined;
}

/** The bindings of AMQP write the prefix with a colon, or for JMS with an underscore. */
const PREFIX = /^cloudEvents[:_]/;

/**
 * The bytes of a message. The client has parsed those of JSON and of text, and gives no other; a JSON that
 * is nested too deep to be written again, which no command is, is given as a text that says so.
 */
export function bodyOf({ body, contentType }: AmqpBody): Uint8Array {
  if (Buffer.isBuffer(body)) return body;
  if (contentType === 'text/plain') return Buffer.from(String(body));
  try {
    return Buffer.from(JSON.stringify(body));
  } catch {
    return Buffer.from('JSON that is nested too deep to be kept');
  }
}

/** Attributes of a CloudEvent in binary mode, by their names. */
export function attributesOf(headers: Record<string, unknown>): Record<string, string> {
  const found = Object.entries(headers).filter(([name]) => PREFIX.test(name));
  return Object.fromEntries(found.map(([name, value]) => [name.replace(PREFIX, ''), textOf(value)]));
}

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));
