import type { Source } from './model.js';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Most milliseconds of one function, code or transform: it runs inside the worker. */
export const MOST_OF_CODE = 10_000;
/** Most milliseconds of everything else. */
const MOST = 3_600_000;

/** Milliseconds of `500ms`, `30s`, `5m` or `1h`, 1 at least; undefined for what is no duration. */
export function parseTimeout(text: string): number | undefined {
  const found = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text.trim());
  if (found === null) return undefined;
  const ms = Math.round(Number(found[1]) * UNITS[found[2] as keyof typeof UNITS]);
  return ms >= 1 ? ms : undefined;
}

/** Milliseconds in the largest unit that takes a whole number of it. */
export function formatTimeout(ms: number): string {
  const fitting = (['h', 'm', 's', 'ms'] as const).find((unit) => ms % UNITS[unit] === 0) ?? 'ms';
  return `${ms / UNITS[fitting]}${fitting}`;
}

/** Most milliseconds that a document of this source may give; what wraps is bound by what it wraps. */
export function longestTimeout(source: Source): number {
  return source === 'code' ? MOST_OF_CODE : MOST;
}

/** Milliseconds where the document gives none and wraps nothing. */
export function defaultTimeout(source: Source): number {
  return source === 'code' ? 1_000 : 60_000;
}
