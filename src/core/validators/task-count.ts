import { z } from 'zod';
import type { Problem } from '../problem.js';
import type { Scope } from '../scenario/model.js';
import type { Validator } from './validator.js';

const bound = z.number().int().min(0).optional();

const params = z
  .object({
    min: bound.describe('Fewest tasks allowed, inclusive; 0 or more'),
    max: bound.describe('Most tasks allowed, inclusive; 0 or more, not below min'),
  })
  .meta({ anyOf: [{ required: ['min'] }, { required: ['max'] }] });
type Params = z.infer<typeof params>;

function problems({ min, max }: Partial<Params>, _scope: Scope, given: ReadonlySet<string>): Problem[] {
  if (!given.has('min') && !given.has('max')) {
    return [{ path: '', message: 'needs min, max or both', allowed: ['min', 'max'] }];
  }
  if (min === undefined || max === undefined || min <= max) return [];
  return [{ path: 'min', message: `is more than max (${max})`, found: String(min) }];
}

function range({ min, max }: Params): string {
  if (min === undefined) return `at most ${max}`;
  if (max === undefined) return `at least ${min}`;
  return min === max ? `exactly ${min}` : `${min} to ${max}`;
}

/** The number of tasks under the job; there is always data, no task counts 0 (SV, task_count; DESIGN 3.2.6). */
export const taskCount: Validator<Params> = {
  name: 'task_count',
  description: 'Checks that the number of tasks under the job lies in a range',
  scopes: ['job'],
  runner: 'none',
  params,
  problems,
  judge(fields, view) {
    const count = view.taskCount;
    const holds = count >= (fields.min ?? 0) && count <= (fields.max ?? Number.POSITIVE_INFINITY);
    return {
      outcome: holds ? 'pass' : 'fail',
      message: `${count} ${count === 1 ? 'task' : 'tasks'}, ${holds ? 'within' : 'outside'} ${range(fields)}`,
      data: { count, ...fields },
    };
  },
};
