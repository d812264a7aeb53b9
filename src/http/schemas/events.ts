import { z } from 'zod';
import { problemSchema } from './common.js';
import { planSchema } from './plans.js';

/** A CloudEvent in JSON format. */
export const cloudEventSchema = z
  .looseObject({
    specversion: z.literal('1.0'),
    id: z.string().min(1),
    source: z.string().min(1),
    type: z.string().min(1),
    subject: z.string().optional(),
    time: z.string().optional(),
    datacontenttype: z.string().optional(),
    data: z.unknown(),
  })
  .describe('CloudEvents 1.0 in JSON format');

/** What became of one CloudEvent that was posted. */
export const commandResultSchema = z.object({
  id: z.string().nullable().describe('Of the CloudEvent; null where it has none'),
  type: z.string().nullable(),
  outcome: z
    .enum(['accepted', 'repeated', 'ignored', 'refused'])
    .describe('repeated: taken before; ignored: an event that Sluice itself sends'),
  evaluation: z.string().optional(),
  plan: z.object({ id: z.string(), phase: z.string(), revision: z.number().int() }).optional(),
  problem: z
    .object({
      code: z.string(),
      detail: z.string(),
      problems: z.array(problemSchema),
      plan: planSchema.nullable().optional().describe('As it stands, where it refused'),
    })
    .optional(),
});

export const commandResultsSchema = z.object({
  results: z.array(commandResultSchema).describe('One for each event, in their order'),
});

export const eventsPageSchema = z.object({
  events: z.array(cloudEventSchema).describe('The oldest first'),
  cursor: z.string().describe('Position behind what was looked at: ask from there for what comes next'),
  more: z.boolean().describe('There is more behind the cursor now'),
  gap: z
    .boolean()
    .describe('What followed the cursor that was asked for is not kept any more: events may be missing'),
});
