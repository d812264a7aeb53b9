import { z } from 'zod';
import { time } from './common.js';

export const letterSchema = z.object({
  direction: z.enum(['out', 'in']).describe('out: of a sink; in: of a source'),
  endpoint: z.string().describe('Name of the sink or source'),
  id: z.string(),
  type: z.string().nullable(),
  subject: z.string().nullable(),
  reason: z.string(),
  code: z.string().describe('Stable word for the reason: refused, away, gone, projection, or a code'),
  response: z.string().nullable().describe('Last answer of the other side, 2 KiB at most'),
  set_aside_at: time,
  tries: z.number().int(),
  redriven: z.number().int().describe('Times that it was redriven without success'),
  content: z.string().describe('The CloudEvent, or the message, as JSON'),
});

export const lettersSchema = z.object({
  letters: z.array(letterSchema).describe('The oldest first; a page may be empty'),
  cursor: z.string().nullable().describe('For the next page; null: there is none'),
});

const filter = {
  sink: z.string().optional().describe('Only of this sink'),
  source: z.string().optional().describe('Only of this source'),
  types: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Only these events, as evaluation.failed or plan.*'),
  code: z.string().optional(),
  since: time.optional().describe('Only set aside at or after'),
  before: time.optional().describe('Only set aside before'),
  ids: z.array(z.string()).min(1).max(1000).optional(),
  all: z.literal(true).optional().describe('Every letter: needed where nothing else is named'),
};

export const dropSchema = z.strictObject(filter);
export const droppedSchema = z.object({ dropped: z.number().int() });

export const redriveSchema = z.strictObject({
  ...filter,
  rate: z.number().min(0.01).max(10_000).optional().describe('Letters a second'),
  wait: z
    .number()
    .int()
    .min(0)
    .max(20_000)
    .default(10_000)
    .describe('Milliseconds to wait for what becomes of them'),
});

export const redrivenSchema = z.object({
  matched: z.number().int(),
  delivered: z.number().int().describe('Delivered, or taken, and letters no more'),
  failed: z.number().int().describe('Not delivered; letters still'),
  failures: z
    .array(
      z.object({
        direction: z.enum(['out', 'in']),
        endpoint: z.string(),
        id: z.string(),
        type: z.string().nullable(),
        reason: z.string(),
      }),
    )
    .describe('The first thousand of those that failed'),
  waiting: z.number().int().describe('Not known, or not tried, when the wait was over'),
});

export const sinkSchema = z.object({
  name: z.string(),
  kind: z.string(),
  target: z.string().describe('Without credentials'),
  state: z.enum(['delivering', 'away', 'disabled']),
  reason: z.string().nullable(),
  since: time,
  next_try: time.nullable(),
  waiting: z.number().int().describe('Events that it has not taken yet'),
  dead_letters: z.number().int(),
});

export const sinksSchema = z.object({ sinks: z.array(sinkSchema) });
