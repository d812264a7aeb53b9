import { z } from 'zod';
import { DURATION, readDuration } from '../src/core/duration-schema.js';

/** Longest time that anything is kept. */
export const LONGEST_KEPT = '3650d';
/** Longest time that a timer of Node.js can wait, in whole days: a longer one fires at once. */
const LONGEST_TIMER = '24d';

/** A duration with a unit, read as milliseconds. */
export function duration(fallback: string, longest = LONGEST_TIMER) {
  return z
    .string({ error: DURATION })
    .default(fallback)
    .transform((text, context) => readDuration(text, context, longest));
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
