/** The middle one; 0 of none. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The smallest value that a share `q` (0 to 1) of all values does not exceed; 0 of none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

export const hundredths = (value: number): number => Math.round(100 * value) / 100;

export const tenths = (value: number): number => Math.round(10 * value) / 10;

/** Checks a second. */
export const rate = (checks: number, ms: number): number => Math.round((1000 * checks) / ms);
