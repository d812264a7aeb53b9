/** Milliseconds of each unit. */
export const DURATION_UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type DurationUnit = keyof typeof DURATION_UNITS;

const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;

/** Milliseconds of a duration such as `250ms`, `30s`, `5m`, `24h` or `7d`; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const found = DURATION.exec(text.trim());
  return found === null ? undefined : Math.round(Number(found[1]) * DURATION_UNITS[found[2] as DurationUnit]);
}

/** Milliseconds as people say them: `250ms`, `10s`, `1.5m`, to a tenth. */
export function roughDuration(ms: number): string {
  const tenths = (unit: number) => Math.round((ms / unit) * 10) / 10;
  if (Math.round(ms) < 1000) return `${Math.round(ms)}ms`;
  return tenths(1000) < 60 ? `${tenths(1000)}s` : `${tenths(60_000)}m`;
}
