import { z } from 'zod';
import { count, duration } from './fields.js';

/** Workers on demand. */
export const autoscaleSettings = {
  autoscale: z
    .strictObject({
      min: count(0, 0).describe('Workers that are kept when there is nothing to do'),
      max: count(0, 0).describe('Most workers; 0: as many as the machine has cores'),
      idle: duration('30s').describe('How long fewer workers must have sufficed before some are ended'),
      target_age: duration('2s').describe('How long the oldest check may wait before workers are added'),
      warm: count(1, 0).describe(
        'Processes that are loaded and take nothing until a worker is wanted, so that it begins at once; each costs about 90 MB',
      ),
    })
    .prefault({}),
};
