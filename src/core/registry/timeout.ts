import { DURATION_UNITS, parseDuration } from '../duration.js';
import type { Source } from './model.js';

/** Most milliseconds of one function, code or transform: it runs inside the worker. */
export const MOST_OF_CODE = 10_000;
/** Most milliseconds of everything else. */
const MOST = 3_600_000;

/** Milliseconds of `500ms`, `30s`, `5m` or `1h`, 1 at least; undefined for what is no duration, and for days. */
export function parseTimeout(text: string): number | undefined {
  const ms = text.trim().endsWith('d') ? undefined : parseDuration(text);
  return ms !== undefined && ms >= 1 ? ms : undefined;
}

/** Milliseconds in the largest unit that takes a whole number of it. */
export function formatTimeout(ms: number): string {
  const fitting = (['h', 'm', 's', 'ms'] as const).find((unit) => ms % DURATION_UNITS[unit] === 0) ?? 'ms';
  return `${ms / DURATION_UNITS[fitting]}${fitting}`;
}

/** Most milliseconds that a document of this source may give; what wraps is bound by what it wraps. */
export function longestTimeout(source: Source): number {
  return source === 'code' ? MOST_OF_CODE : MOST;
}

/** Milliseconds where the document gives none and wraps nothing. */
export function defaultTimeout(source: Source): number {
  return source === 'code' ? 1_000 : 60_000;
}
