import { z } from 'zod';
import { parseDuration } from '../src/core/duration.js';

const DURATION = 'expected a duration such as 250ms, 30s, 5m, 24h or 7d';

/** Longest time that anything is kept. */
export const LONGEST_KEPT = '3650d';
/** Longest time that a timer of Node.js can wait, in whole days: a longer one fires at once. */
const LONGEST_TIMER = '24d';

/** A duration with a unit, read as milliseconds. */
export function duration(fallback: string, longest = LONGEST_TIMER) {
  return z
    .string({ error: DURATION })
    .default(fallback)
    .transform((text, context) => {
      const ms = parseDuration(text);
      const isLong = ms !== undefined && ms > (parseDuration(longest) ?? 0);
      if (ms !== undefined && !isLong) return ms;
      context.addIssue({ code: 'custom', message: isLong ? `expected at most ${longest}` : DURATION });
      return z.NEVER;
    });
}

/** Absolute, or relative to the folder of the settings file where it begins with `./` or `../`. */
export const place = z
  .string()
  .regex(
    /^(?:\/|\.\.?(?:\/|$))/,
    'expected an absolute path, or one from the settings file that begins with ./',
  );

/** A whole number with a default. */
export const count = (fallback: number, least = 1) => z.number().int().min(least).default(fallback);
