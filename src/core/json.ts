/** A value that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy with the keys of every object in it sorted by code unit. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isPlainObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortedKeys(value[key])]));
}

/** JSON with the keys of every object sorted by code unit, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortedKeys(value));
}
