import { z } from 'zod';

/** What names a batch in the address. */
export const batchParams = z.strictObject({
  batch: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, 'expected 1 to 128 letters, digits, dots, hyphens and underscores')
    .describe('Id of the batch'),
});
export type BatchParams = z.output<typeof batchParams>;
