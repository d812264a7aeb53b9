import { z } from 'zod';
import { nearestName, type Problem, show } from '../problem.js';
import { normalStatus, statusVerdict } from './status.js';
import type { Validator } from './validator.js';

/** The five ways a job can end (SV, job_resolution_status). */
export const RESOLUTION_STATUSES = [
  'success',
  'agentic_failure',
  'hard_failure',
  'partial',
  'no_action',
] as const;

/** Older spelling of a status to the one that holds (DESIGN 3.2.1). */
const ALIASES: ReadonlyMap<string, string> = new Map([['no_tasks_created', 'no_action']]);

function resolved(status: string): string {
  const normal = normalStatus(status);
  return ALIASES.get(normal) ?? normal;
}

function anyCase(word: string): string {
  return Array.from(word, (char) => (char === '_' ? char : `[${char}${char.toUpperCase()}]`)).join('');
}

const spellings = [...RESOLUTION_STATUSES, ...ALIASES.keys()];

const params = z.object({
  pattern: z
    .string()
    .transform(resolved)
    .describe('The expected resolution status, in any case')
    .meta({ anyOf: [{ enum: spellings }, { pattern: `^\\s*(${spellings.map(anyCase).join('|')})\\s*$` }] }),
});
type Params = z.infer<typeof params>;

function problems({ pattern }: Partial<Params>): Problem[] {
  if (pattern === undefined || RESOLUTION_STATUSES.some((status) => status === pattern)) return [];
  const nearest = nearestName(pattern, RESOLUTION_STATUSES);
  return [
    {
      path: 'pattern',
      message: 'is not a resolution status',
      found: show(pattern),
      allowed: [...RESOLUTION_STATUSES],
      ...(nearest === undefined ? {} : { nearest }),
    },
  ];
}

/** The job's final resolution status (SV, job_resolution_status; DESIGN 3.2.1 and 3.2.7). */
export const jobResolutionStatus: Validator<Params> = {
  name: 'job_resolution_status',
  description: 'Checks the resolution status that the job ended with',
  scopes: ['job'],
  runner: 'none',
  params,
  problems,
  judge: ({ pattern }, view) =>
    statusVerdict('resolution status', pattern, view.subject.job?.resolution_status, resolved),
};
