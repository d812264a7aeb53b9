import { z } from 'zod';
import { parseDuration } from './duration.js';

/** What is said of a text that is no duration. */
export const DURATION = 'expected a duration such as 250ms, 30s, 5m, 24h or 7d';

/** Reads the text of a setting as milliseconds; longer than `longest` is refused. */
export function readDuration(text: string, context: z.RefinementCtx, longest?: string): number {
  const ms = parseDuration(text);
  const most = longest === undefined ? Number.POSITIVE_INFINITY : (parseDuration(longest) ?? 0);
  if (ms !== undefined && ms <= most) return ms;
  const message = ms === undefined ? DURATION : `expected at most ${longest}`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** A duration as settings give it; milliseconds. */
export const durationSchema = z
  .string({ error: DURATION })
  .transform((text, context) => readDuration(text, context));
