import { z } from 'zod';
import { statusVerdict } from './status.js';
import type { Validator } from './validator.js';

const params = z.object({
  pattern: z
    .string()
    .max(256)
    .regex(/\S/, 'must not be blank')
    .describe('The expected status of the ticket, in any case; compared as a whole, not as a pattern'),
});

/** The ticket's status, for runs that came in through the gateway (SV, ticket_status; DESIGN 3.2.7). */
export const ticketStatus: Validator<z.infer<typeof params>> = {
  name: 'ticket_status',
  description: 'Checks the status of the ticket; only with --from gateway',
  scopes: ['gateway'],
  runner: 'none',
  params,
  judge: ({ pattern }, view) => statusVerdict('ticket status', pattern, view.subject.ticket?.status),
};
