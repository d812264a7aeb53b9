import { setTimeout as delay } from 'node:timers/promises';
import { type Hold, holdOf, holdWords, isNear, type Load, type PressureMarks } from '../core/pressure.js';
import { SluiceError } from '../core/problem.js';
import type { Clock } from '../ports/clock.js';
import { inTime } from './in-time.js';

/** Milliseconds for which a look is good, and where a mark is near. */
const FRESH_MS = 250;
const FRESH_NEAR_MS = 20;
/** Milliseconds after which a look that gets no answer says nothing: who writes finds out by himself. */
const PATIENCE_MS = 1000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

export interface PressureDeps {
  /** How much weighs on the fleet now. */
  read(): Promise<Load>;
  marks: PressureMarks;
  clock: Clock;
  /** Told once when producers begin to wait, and once when they go on. */
  teller: { waits(reason: string): void; goesOn(): void };
}

/**
 * Keeps those who bring work from filling Redis: from a mark on they wait or are refused, until the fleet
 * has worked off a part of it. While it is far below its marks nobody waits for a look.
 */
export class Pressure {
  readonly #deps: PressureDeps;
  #hold: Hold | undefined;
  /** Whether work is let in only after a look. */
  #isClose = true;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(deps: PressureDeps) {
    this.#deps = deps;
  }

  /** Waits until there is room, or until the signal fires; `moved` is told when what weighs has changed. */
  async room(signal?: AbortSignal, moved?: () => void): Promise<void> {
    let found: number | undefined;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const hold = await this.#now();
      if (hold === undefined || signal?.aborted === true) return;
      if (found !== undefined && hold.found !== found) moved?.();
      found = hold.found;
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Throws UNAVAILABLE when there is no room now. */
  async assertRoom(): Promise<void> {
    const hold = await this.#now();
    if (hold === undefined) return;
    throw new SluiceError('UNAVAILABLE', `${holdWords(hold)}. Nothing was accepted; try again later.`);
  }

  async #now(): Promise<Hold | undefined> {
    const age = this.#deps.clock.now() - this.#readAt;
    if (age >= (this.#isClose ? FRESH_NEAR_MS : FRESH_MS)) {
      this.#reading ??= this.#read().finally(() => {
        this.#reading = undefined;
      });
      if (this.#isClose) await this.#reading;
    }
    return this.#hold;
  }

  async #read(): Promise<void> {
    const { read, marks, clock, teller } = this.#deps;
    // Nothing is known where there is trouble, or no answer in time.
    const load = await inTime<Load, Load>(read(), PATIENCE_MS, () => ({})).catch((): Load => ({}));
    this.#readAt = clock.now();
    const before = this.#hold;
    this.#hold = holdOf(load, marks, before);
    this.#isClose = this.#hold !== undefined || isNear(load, marks);
    if (this.#hold !== undefined && before?.kind !== this.#hold.kind) teller.waits(holdWords(this.#hold));
    if (this.#hold === undefined && before !== undefined) teller.goesOn();
  }
}
