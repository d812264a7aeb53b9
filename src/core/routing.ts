import { z } from 'zod';
import { type Need, RUNNER_KINDS } from './registry/needs.js';

/** What each worker serves that judges what its own process can. */
export const PURE: Need = 'pure';
/** What each worker serves besides that takes jobs of runners: graphs and others that need none themselves. */
export const GRAPH: Need = 'graph';

/** What a worker says that it serves; `concurrency` 0: it takes no job of a runner. Sorted. */
export function servesOf(runners: readonly Need[], concurrency: number): Need[] {
  return concurrency === 0 ? [PURE] : [...new Set([...runners, GRAPH, PURE])].sort();
}

/** Why a worker that takes no job of a runner serves none of them. */
export const TAKES_NO_RUNNERS = 'worker.runner_concurrency is 0 in the settings';

/** What a worker can run, and why it does not serve the rest: by need, or by kind of runner. */
export interface Served {
  serves: readonly Need[];
  missing: Readonly<Record<string, string>>;
}

/** What a worker on a host with these runners says of itself; `concurrency` as for `servesOf`. */
export function servedBy(host: Served, concurrency: number): { serves: Need[]; missing: Served['missing'] } {
  const serves = servesOf(host.serves, concurrency);
  if (concurrency > 0) return { serves, missing: host.missing };
  const missing = Object.fromEntries([...RUNNER_KINDS, GRAPH].map((kind) => [kind, TAKES_NO_RUNNERS]));
  return { serves, missing };
}

/** What a check that needs these must find, all of it on one worker. */
export const requiredBy = (needs: readonly Need[]): readonly Need[] => (needs.length === 0 ? [GRAPH] : needs);

/** Whether one of these workers can run a check with these needs. */
export function isServed(needs: readonly Need[], workers: readonly (readonly Need[])[]): boolean {
  return workers.some((serves) => requiredBy(needs).every((need) => serves.includes(need)));
}

/**
 * What no worker has for a check with these needs, sorted; all of them where each is served, but by no
 * worker together with the others. Empty: some worker can run it.
 */
export function lackingOf(needs: readonly Need[], workers: readonly (readonly Need[])[]): Need[] {
  if (isServed(needs, workers)) return [];
  const nowhere = requiredBy(needs).filter((need) => !workers.some((serves) => serves.includes(need)));
  return [...(nowhere.length > 0 ? nowhere : requiredBy(needs))].sort();
}

/** A worker, and what it serves. */
export const workerSchema = z.object({ worker: z.string(), serves: z.array(z.string()) });
export type ServingWorker = z.infer<typeof workerSchema>;

/** What `evaluation.unserved` says besides which evaluation it is. */
export const unservedShape = {
  needs: z
    .array(z.string())
    .describe('What no living worker serves: command, ansible, mcp:<server>, plugin:<name> or graph'),
  checks: z.number().int().min(1).describe('Checks that wait for it'),
  since: z.iso.datetime().describe('When it was first found so'),
  deadline: z.iso.datetime().describe('When what is missing is decided as an error'),
  workers: z.array(workerSchema).describe('The workers that are alive, and what each serves'),
  workers_total: z.number().int().min(0),
  truncated: z.boolean().describe('Some workers or needs were left out'),
};
