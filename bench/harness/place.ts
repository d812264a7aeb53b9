import { type Child, type ChildKind, startChild } from './child-process.js';
import { type BenchRedis, startRedis } from './redis.js';

/** `tiny` shows in seconds that every row works; its figures mean nothing. */
export type Size = 'full' | 'quick' | 'tiny';

/** Milliseconds that each step of clearing up may take before the next one begins. */
const CLEAR_UP_MS = 20_000;

/** Where a row is measured. What it starts here is ended after it, however the row ends. */
export class Place {
  readonly size: Size;
  /** What rows found out that others need too, such as the rate of the batch. */
  readonly found: Map<string, number>;
  readonly #say: (line: string) => void;
  readonly #steps: (() => Promise<unknown>)[] = [];

  constructor(size: Size, found: Map<string, number>, say: (line: string) => void) {
    this.size = size;
    this.found = found;
    this.#say = say;
  }

  /** The one of three that fits the size of this run. */
  pick<T>(full: T, quick: T, tiny: T): T {
    return { full, quick, tiny }[this.size];
  }

  /** Tells how it goes, on standard error. */
  say(line: string): void {
    this.#say(`  ${line}`);
  }

  /** Does this after the row; the last one given is done first. */
  later(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  async redis(): Promise<BenchRedis> {
    const redis = await startRedis();
    this.later(() => redis.stop());
    return redis;
  }

  /** A process of bench/children, which is told `what`. */
  async child<T extends object>(kind: ChildKind, what: T, options?: { flags?: string[] }): Promise<Child> {
    const starting = startChild(kind, what, options);
    // Even one that is not up yet when the row breaks off.
    this.later(async () => (await starting).stop());
    return starting;
  }

  async clearUp(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, CLEAR_UP_MS);
      });
      await Promise.race([step().catch((error: Error) => this.say(error.message)), late]);
      clearTimeout(timer);
    }
  }
}
