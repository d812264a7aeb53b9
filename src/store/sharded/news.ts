/** A wait that is under way, and where it began. */
interface Waiting<T> {
  from: string;
  read: Promise<T>;
}

/**
 * Waits for news of several shards at a time. A wait that the news of another shard has overtaken goes on, and
 * all share it: a connection that waits takes no other command. Who waits has read all that there was before,
 * so that whatever comes ends every wait, wherever it began; what it brought is read again.
 */
export class News<T> {
  readonly #waiting = new Map<string, Waiting<T>>();

  /** Whether a wait for this is under way that began at the same place: then there is nothing to read. */
  isWaiting(key: string, from: string): boolean {
    return this.#waiting.get(key)?.from === from;
  }

  /** The first of these that has news, or that ends without. */
  async first(waits: readonly { key: string; from: string; read(): Promise<T> }[]): Promise<void> {
    const reads = waits.map(({ key, from, read }) => {
      const known = this.#waiting.get(key);
      if (known !== undefined) return known.read;
      const waiting: Waiting<T> = { from, read: read() };
      const done = () => {
        if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
      };
      this.#waiting.set(key, waiting);
      waiting.read.then(done, done);
      return waiting.read;
    });
    await Promise.race(reads);
  }
}
