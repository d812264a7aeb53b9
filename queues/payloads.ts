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
  /** When it was first found beyond a limit, in milliseconds since the epoch. */
  limitedSince: z.number().int().min(0).optional(),
});
export type PackPayload = z.infer<typeof packPayloadSchema>;

export const decidePayloadSchema = z.object({
  chunk: z.string().min(1),
  attempt: z.number().int().min(1),
  generation: z.number().int().min(1),
});
export type DecidePayload = z.infer<typeof decidePayloadSchema>;

const byPosition = z.record(z.string(), z.number());

/** Outbox positions that one delivery is to bring to its sink, and what came of earlier tries. */
export const deliverPayloadSchema = z.object({
  positions: z.array(z.string().min(1)).min(1),
  tries: byPosition.optional(),
  awayAt: byPosition.optional(),
});

/** Dead letters that are to be delivered again, by event id. */
export const redrivePayloadSchema = z.object({ letters: z.array(z.string().min(1)).min(1) });
export type RedrivePayload = z.infer<typeof redrivePayloadSchema>;
