import { createHash, hash } from 'node:crypto';
import { canonicalJson } from './json.js';

/** Lowercase hexadecimal SHA-256 of a text (UTF-8) or of bytes: 64 characters. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

/** SHA-256 of a text that comes piece by piece; no piece ends inside a character. */
export class RunningDigest {
  readonly #hash = createHash('sha256');

  add(piece: string): void {
    this.#hash.update(piece);
  }

  /** As `sha256` of all pieces together; nothing is added afterwards. */
  end(): string {
    return this.#hash.digest('hex');
  }
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
  // As text: Node.js takes three times as long to hand out bytes.
  const digest = sha256(parts.join('\u0000'));
  let id = '';
  for (let at = 0; id.length < 26; at += 5) {
    const bits = Number.parseInt(digest.slice(at, at + 5), 16);
    id += `${CROCKFORD[bits >> 15]}${CROCKFORD[(bits >> 10) & 31]}${CROCKFORD[(bits >> 5) & 31]}${CROCKFORD[bits & 31]}`;
  }
  return id.slice(0, 26);
}
