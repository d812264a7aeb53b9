import { z } from 'zod';

const UNITS: Readonly<Record<string, number>> = { kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 };
const EXPECTED = 'expected a share such as 80%, a size such as 500mb or 2gb, or off';

/** A share of `maxmemory` in percent, bytes, or nothing where it is off. */
const memoryMark = z
  .string({ error: EXPECTED })
  .default('80%')
  .transform((text, context): { percent: number } | { bytes: number } | undefined => {
    if (text === 'off') return undefined;
    const share = /^(\d{1,3})%$/.exec(text);
    const percent = Number(share?.[1]);
    if (percent >= 1 && percent <= 100) return { percent };
    const size = /^(\d{1,12}(?:\.\d{1,3})?)(kb|mb|gb)$/.exec(text);
    const bytes = Math.round(Number(size?.[1]) * (UNITS[size?.[2] ?? ''] ?? Number.NaN));
    if (bytes >= 1) return { bytes };
    context.addIssue({ code: 'custom', message: EXPECTED });
    return z.NEVER;
  });

/** Marks at which those who bring work wait. */
export const backpressureSettings = {
  backpressure: z
    .strictObject({
      redis_memory: memoryMark.describe(
        'Memory of Redis from which new work waits: a share of maxmemory (nothing where Redis has no maxmemory), a size, or off; work goes on below 90 % of it',
      ),
      backlog: z
        .union([z.number().int().min(1), z.literal('off')], {
          error: 'expected a whole number from 1, or off',
        })
        .default(100_000)
        .describe('Waiting jobs from which new work waits, or off; it goes on below 90 % of them'),
    })
    .prefault({}),
};
