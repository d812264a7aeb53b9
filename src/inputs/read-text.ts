import { createReadStream } from 'node:fs';
import { decode, readFailure, refuseHead } from './text.js';

/**
 * A whole file (or stream) as text, or why there is none. Reads no more than `maxBytes`, so that a
 * device or a pipe without an end does no harm.
 */
export async function readText(
  source: string | NodeJS.ReadableStream,
  maxBytes: number,
): Promise<{ text: string } | { message: string }> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    const stream = typeof source === 'string' ? createReadStream(source) : source;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const refused = size === 0 ? refuseHead(chunk) : undefined;
      if (refused !== undefined) return { message: refused };
      size += chunk.length;
      if (size > maxBytes) return { message: `is larger than ${Math.floor(maxBytes / 2 ** 20)} MiB` };
      pieces.push(chunk);
    }
  } catch (error) {
    return { message: readFailure(error) };
  }
  return decode(Buffer.concat(pieces));
}
