import { isPlainObject } from '../core/json.js';

/** The value under a key; undefined for anything that is not an object. */
export function field(value: unknown, key: string): unknown {
  return isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A list as it is; an empty one in place of anything else. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** A text with something to read in it. */
export function hasText(value: unknown): value is string {
  return isText(value) && value.trim() !== '';
}

/** The text of a chat message: a string, or the text parts of a list of parts. */
export function messageText(content: unknown): string {
  if (isText(content)) return content;
  const parts = list(content).map((part) => field(part, 'text'));
  return parts.filter(isText).join('\n');
}
