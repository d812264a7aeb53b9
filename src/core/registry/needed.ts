import { resolveTool } from './closure.js';
import { isSkill, type Registry } from './model.js';
import { type Need, needsOf } from './needs.js';

/** What some worker must serve, and the documents that need it. */
export interface Needed {
  need: Need;
  /** Full names of tools and validations, sorted. */
  by: string[];
}

/** What the registered tools and validations need of workers, with all that they wrap and call; by need, sorted. */
export function neededBy(registry: Pick<Registry, 'entries'>): Needed[] {
  const byNeed = new Map<Need, string[]>();
  for (const [name, { document }] of registry.entries) {
    if (isSkill(document)) continue;
    for (const need of needsOf(resolveTool(registry, name))) {
      byNeed.set(need, [...(byNeed.get(need) ?? []), name]);
    }
  }
  return [...byNeed]
    .map(([need, by]) => ({ need, by: by.sort() }))
    .sort((a, b) => (a.need < b.need ? -1 : 1));
}
