import { hash } from 'node:crypto';
import { canonicalJson } from './json.js';

/** Lowercase hexadecimal SHA-256 of a text (UTF-8) or of bytes: 64 characters. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

/** Digest of a JSON value, independent of the order of its keys. */
export function digestOf(value: unknown): string {
  return sha256(canonicalJson(value));
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * A 26-character id in the alphabet of ULIDs, derived from the given parts alone: the same parts
 * always give the same id, so that a repeated submit names the same thing.
 */
export function idFrom(...parts: string[]): string {
  const digest = hash('sha256', parts.join('\u0000'), 'buffer');
  let bits = 0;
  let buffer = 0;
  let id = '';
  for (const byte of digest) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5 && id.length < 26) {
      bits -= 5;
      id += CROCKFORD[(buffer >> bits) & 31];
    }
    buffer &= (1 << bits) - 1;
    if (id.length === 26) break;
  }
  return id;
}
