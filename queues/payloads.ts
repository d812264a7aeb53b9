import { z } from 'zod';

const range = { from: z.number().int().min(0), to: z.number().int().min(1) };

/** What a pack's job carries: references, never evidence (DESIGN 5.1). */
export const packPayloadSchema = z.object({
  chunk: z.string().min(1),
  attempt: z.number().int().min(1),
  generation: z.number().int().min(1),
  /** When the chunk was accepted, in milliseconds since the epoch. */
  acceptedAt: z.number().int().min(0),
  pack: z.object({
    queue: z.enum(['pure', 'runner']),
    ...range,
    checks: z.object(range).optional(),
  }),
  /** Lone runs that began after a stall and never came back. */
  begun: z.number().int().min(0).optional(),
  /** Times that a worker took it which has no runner for it. */
  looks: z.number().int().min(0).optional(),
});
export type PackPayload = z.infer<typeof packPayloadSchema>;

export const decidePayloadSchema = z.object({
  chunk: z.string().min(1),
  attempt: z.number().int().min(1),
  generation: z.number().int().min(1),
});
export type DecidePayload = z.infer<typeof decidePayloadSchema>;

/** Outbox positions that one delivery is to bring to its sink. */
export const deliverPayloadSchema = z.object({ positions: z.array(z.string().min(1)).min(1) });
export type DeliverPayload = z.infer<typeof deliverPayloadSchema>;
