import { isPlainObject } from '../json.js';

const encoder = new TextEncoder();

/** Bytes that the value takes as JSON in UTF-8. */
export function bytesOf(value: unknown): number {
  const json = JSON.stringify(value) ?? '';
  return json.length > SHORT || !isAscii(json) ? encoder.encode(json).length : json.length;
}

/** UTF-16 units up to which a look at each is quicker than the encoder. */
const SHORT = 200;

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Levels of nesting beyond which nothing fits. */
const DEEPEST = 64;

/** Whether the value takes at most so many bytes as JSON; looks at no more of it than it must. */
export function fits(value: unknown, bytes: number): boolean {
  return roomAfter(value, bytes, 0) >= 0;
}

/** Bytes that are left of `bytes`; negative when they do not do. */
function roomAfter(value: unknown, bytes: number, depth: number): number {
  if (bytes < 0 || depth > DEEPEST) return -1;
  if (typeof value === 'string' && value.length > bytes) return -1;
  const inside = Array.isArray(value)
    ? value.entries()
    : isPlainObject(value)
      ? Object.entries(value)
      : undefined;
  if (inside === undefined) return bytes - bytesOf(value);
  let left = bytes - 2;
  for (const [key, each] of inside) {
    if (each === undefined) continue;
    if (typeof key === 'string') left -= bytesOf(key) + 1;
    left = roomAfter(each, left, depth + 1) - 1;
    if (left < -1) return -1;
  }
  // The last one has no comma after it.
  return left + (left < bytes - 2 ? 1 : 0);
}

/** What of a list was kept. */
export interface Fitted<T> {
  items: T[];
  cut: boolean;
}

/** The first items that together take at most so many bytes of JSON. */
export function fitting<T>(items: readonly T[], bytes: number): Fitted<T> {
  let left = bytes;
  for (const [n, item] of items.entries()) {
    left -= bytesOf(item) + 1;
    if (left < 0) return { items: items.slice(0, n), cut: true };
  }
  return { items: [...items], cut: false };
}

/** The text, cut to so many UTF-16 units on a code point, with an ellipsis where it was cut. */
export function clipped(text: string, units: number): string {
  if (text.length <= units) return text;
  const cut = text.slice(0, units - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
