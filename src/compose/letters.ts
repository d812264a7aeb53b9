import { setTimeout as delay } from 'node:timers/promises';
import { openRedriver, type Redriver } from '../../queues/redrive.js';
import type { Intake } from '../app/intake/intake.js';
import { Letters } from '../app/letters.js';
import { DEAD_AFTER_MS } from '../app/living.js';
import { SluiceError } from '../core/problem.js';
import type { Engine, FleetEngine } from './engine.js';

const isFleet = (engine: Engine): engine is FleetEngine => engine.kind === 'fleet';

/** Waits; ends early when the signal is aborted. */
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {});

/**
 * Works with the dead letters of an engine's fleet. What redriving opens is closed when the work is done:
 * it is done seldom, and takes a connection of its own.
 */
export async function withLetters<T>(
  engine: Engine,
  intake: Pick<Intake, 'retake'>,
  work: (letters: Letters) => Promise<T>,
): Promise<T> {
  const { store, clock, config } = engine;
  let redriver: Redriver | undefined;
  const letters = new Letters({
    letters: store.letters,
    roster: store.roster,
    clock,
    deadAfterMs: DEAD_AFTER_MS,
    async queue() {
      if (!isFleet(engine))
        throw new SluiceError('UNAVAILABLE', 'There are no dispatchers without a fleet on Redis.');
      redriver ??= openRedriver({ url: engine.redisUrl, fleet: config.fleet }, engine.trouble);
      return redriver;
    },
    retake: (letter) => intake.retake(letter),
    sleep,
  });
  try {
    return await work(letters);
  } finally {
    await redriver?.close();
  }
}
