import { LRUCache } from 'lru-cache';
import type { Clock } from '../../ports/clock.js';
import { kindOf, NotYetError } from './trouble.js';

/** Plans whose commands are kept in order at a time. */
const MOST_LINES = 10_000;
/** Milliseconds after which a command that was put off is no longer waited for: it went elsewhere. */
const WAITED_FOR_MS = 120_000;

interface Line {
  /** Settles when the last command that came has been tried. */
  last: Promise<void>;
  /** Commands that were put off, the first first, and when each was last tried. */
  putOff: Map<string, number>;
}

/**
 * Keeps commands to one plan in the order in which they came, one at a time, also where one could not be
 * taken yet: those behind it wait until it comes again. Other plans are not held up.
 */
export class Turns {
  readonly #lines = new LRUCache<string, Line>({ max: MOST_LINES });
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does the work when the turn of this command has come. Throws what the work throws, or NotYetError. */
  async take<T>(plan: string, command: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(plan) ?? { last: Promise.resolve(), putOff: new Map() };
    this.#lines.set(plan, line);
    const before = line.last;
    let done = () => {};
    const mine = new Promise<void>((resolve) => {
      done = resolve;
    });
    line.last = mine;
    await before;
    try {
      if (!this.#mayGo(line, command))
        throw new NotYetError('an earlier command to the same plan could not be taken yet');
      const result = await work();
      line.putOff.delete(command);
      return result;
    } catch (error) {
      if (kindOf(error) === 'refusal') line.putOff.delete(command);
      else line.putOff.set(command, this.#clock.now());
      throw error;
    } finally {
      done();
      if (line.last === mine && line.putOff.size === 0) this.#lines.delete(plan);
    }
  }

  /** A command that was put off will not come again. */
  forget(plan: string, command: string): void {
    this.#lines.get(plan)?.putOff.delete(command);
  }

  #mayGo({ putOff }: Line, command: string): boolean {
    for (const [first, at] of putOff) {
      if (first === command) return true;
      if (this.#clock.now() - at < WAITED_FOR_MS) return false;
      putOff.delete(first);
    }
    return true;
  }
}
