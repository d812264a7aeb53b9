import { z } from 'zod';
import { duration } from './fields.js';

const MOST_NAME = 256;

const limit = z
  .strictObject({
    concurrency: z.number().int().min(1).optional().describe('Checks at a time'),
    rate: z
      .strictObject({
        count: z.number().int().min(1).describe('Checks that may begin …'),
        per: duration('1s').describe('… in this time'),
      })
      .optional()
      .describe('How often checks may begin'),
  })
  .refine(({ concurrency, rate }) => concurrency !== undefined || rate !== undefined, {
    error: 'limits nothing; give concurrency, rate, or both',
  });

const byName = z.record(z.string().min(1).max(MOST_NAME), limit).default({});

/** What may run at a time, and how often, over all workers of a fleet. */
export const limitSettings = {
  limits: z
    .strictObject({
      projects: byName.describe('Checks of plans, by the project of the plan; * is each that is not named'),
      validations: byName.describe(
        'Checks of plans, by the name of the validation with its namespace; * is each that is not named. Rules of scenarios that need no runner share packs, and are not limited',
      ),
      scenarios: byName.describe(
        'Playbooks of scenarios, by the key of the scenario; * is each that is not named',
      ),
    })
    .prefault({})
    .describe(
      'What may run over all workers of the fleet at a time, and how often: a check beyond its limit waits for its turn. All workers need the same settings',
    ),
};
