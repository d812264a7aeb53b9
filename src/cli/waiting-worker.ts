import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { type FleetEngine, openRunners } from '../compose.js';
import { BEGIN, END_WHEN_IDLE, tellParent } from './child-messages.js';

/**
 * Loads what a worker needs, says so, and starts it once the process that started this one says so; undefined:
 * this process was `told` to end before.
 */
export async function startWhenTold(engine: FleetEngine, told: Promise<string>): Promise<Role | undefined> {
  const begun = new Promise<typeof BEGIN>((resolve) => {
    process.on('message', (message) => {
      if (message === BEGIN) resolve(BEGIN);
    });
  });
  const [runners] = await Promise.all([openRunners(engine.config), import('../../queues/consumers.js')]);
  tellParent({ state: 'ready' });
  if ((await Promise.race([begun, told])) !== BEGIN) return undefined;
  return startExecutor(engine, runners);
}

/** Resolves when the process that started this one wants it to end, and nothing is in hand. */
export function idleEnd(running: Role): Promise<'idle'> {
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (message !== END_WHEN_IDLE) return;
      if ((running.inHand?.() ?? 0) > 0) return tellParent({ state: 'busy' });
      tellParent({ state: 'ending' });
      resolve('idle');
    });
  });
}
