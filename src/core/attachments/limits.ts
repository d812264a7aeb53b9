import { isPlainObject } from '../json.js';

/** Arguments travel in every manifest, result and event of their check. */
const MOST_BYTES = 16 * 1024;
const MOST_LEVELS = 32;

function flawOf(value: unknown, level: number): string | undefined {
  if (level > MOST_LEVELS) return `arguments nest at most ${MOST_LEVELS} levels deep`;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : 'arguments are JSON, which has no such number';
  }
  if (!Array.isArray(value) && !isPlainObject(value)) return 'arguments are JSON';
  for (const [key, item] of Object.entries(value)) {
    const flaw =
      key === '__proto__' ? 'arguments have no key of this name: __proto__' : flawOf(item, level + 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

/** Why a value cannot be the arguments of an attachment, whatever the validation; undefined when it can. */
export function argumentsFlaw(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'arguments are a JSON object';
  const flaw = flawOf(value, 1);
  if (flaw !== undefined) return flaw;
  const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
  if (bytes <= MOST_BYTES) return undefined;
  return `arguments have at most ${MOST_BYTES} bytes of JSON; these have ${bytes}`;
}
