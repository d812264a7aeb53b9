/** Lets a few pieces of work run at a time; the others wait for their turn, first come, first served. */
export class Lanes {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atATime: number) {
    this.#free = atATime;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
