import { z } from 'zod';

/** ISO 8601 in UTC. */
export const time = z.iso.datetime().describe('ISO 8601, UTC');

/** What is wrong with one part of a request, as problems and outcomes list it. */
export const problemSchema = z.object({
  code: z.string().optional().describe('Stable word for what is wrong'),
  path: z.string().describe('Where it is, such as snapshots.r/x; empty: the whole'),
  message: z.string(),
  line: z.number().int().optional(),
  document: z.string().optional().describe('Name of the document that it is about'),
  file: z.string().optional(),
  found: z.string().optional(),
  allowed: z.array(z.string()).optional(),
  nearest: z.string().optional().describe('The allowed name that was probably meant'),
});

/** A list in the address: `a,b`, or the same key several times. */
export const listSchema = z
  .union([z.string(), z.array(z.string())])
  .transform((given) =>
    (Array.isArray(given) ? given : [given]).flatMap((each) => each.split(',')).filter((each) => each !== ''),
  );

/** A whole number in the address. */
export const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.number().min(least).max(most));

/** `true` or `false` in the address. */
export const flag = z.enum(['true', 'false']).transform((given) => given === 'true');
