import { z } from 'zod';
import { MOST_SHARDS } from '../src/core/shards.js';

/** Over how many parts a fleet is spread. */
export const shardSettings = {
  shards: z
    .number()
    .int()
    .min(1)
    .max(MOST_SHARDS)
    .optional()
    .describe(
      'Parts of Redis over which evaluations, plans and queues are spread; a new fleet has 1, and without this key a fleet has what it has',
    ),
};
