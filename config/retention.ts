import { z } from 'zod';
import { count } from './fields.js';

/** What is kept of batches, besides what their age says (`evaluation.retention`). */
export const retentionSettings = {
  retention: z
    .strictObject({
      evaluations: count(1_000_000).describe(
        'Decided evaluations of one batch whose results stay; the oldest beyond these go, behind those who read the batch',
      ),
      batches: count(1000).describe(
        'Completed batches that stay; those nearest to the end of their retention go first',
      ),
    })
    .prefault({}),
};
