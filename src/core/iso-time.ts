/** The last moment that a Date can name. */
const LAST = 8.64e15;

/** ISO 8601 in UTC, of milliseconds since the epoch. */
export function isoTime(ms: number): string {
  return new Date(Math.min(LAST, Math.max(-LAST, ms))).toISOString();
}
