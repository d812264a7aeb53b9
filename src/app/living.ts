import type { ServingWorker } from '../core/routing.js';
import type { Clock } from '../ports/clock.js';
import type { RoleName, Roster } from '../ports/store.js';

/** Milliseconds between heartbeats; a role is taken for dead after three. */
export const BEAT_MS = 2000;
export const DEAD_AFTER_MS = 3 * BEAT_MS;

/** The workers that are alive, and what each serves. */
export async function livingWorkers(
  { roster }: { roster: Pick<Roster, 'alive'> },
  clock: Clock,
): Promise<ServingWorker[]> {
  const alive = await roster.alive(clock.now() - DEAD_AFTER_MS);
  return alive
    .filter(({ role }) => role === 'worker')
    .map(({ id, serves }) => ({ worker: id, serves: [...serves] }));
}

/** Roles that are alive; an autoscaler stands for workers, which it starts when there is work. */
export async function livingRoles(
  { roster }: { roster: Pick<Roster, 'alive'> },
  clock: Clock,
): Promise<Set<RoleName>> {
  const alive = new Set((await roster.alive(clock.now() - DEAD_AFTER_MS)).map(({ role }) => role));
  if (alive.has('autoscaler')) alive.add('worker');
  return alive;
}
