import { z } from 'zod';
import { count } from './fields.js';

/** How large batches share the workers. */
export const fairnessSettings = {
  fairness: z
    .strictObject({
      window: count(20_000).describe(
        'Evaluations of one batch that may be accepted and not decided; whoever brings more waits for decisions',
      ),
    })
    .prefault({}),
};
