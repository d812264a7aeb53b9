import { ansible } from './ansible.js';
import { jobResolutionStatus } from './job-resolution-status.js';
import { patternMatch } from './pattern-match.js';
import { taskCount } from './task-count.js';
import { ticketStatus } from './ticket-status.js';
import type { Validator } from './validator.js';

// biome-ignore lint/suspicious/noExplicitAny: each validator has its own parameters, checked by its own schema.
const all: readonly Validator<any>[] = [patternMatch, jobResolutionStatus, ticketStatus, taskCount, ansible];

/** The built-in validators by name, in the order of the documentation. */
export const builtInValidators: ReadonlyMap<string, Validator> = new Map(
  all.map((each) => [each.name, each]),
);

const byAnyName = new Map<string, Validator>(
  all.flatMap((each) => [each.name, ...(each.aliases ?? [])].map((name) => [name, each] as const)),
);

/** The built-in validator that a name or an alias means. */
export function findValidator(name: string): Validator | undefined {
  return byAnyName.get(name);
}
