import { setTimeout as delay } from 'node:timers/promises';
import {
  backoffMs,
  claimForDelivery,
  type DeliverDeps,
  deliver,
  giveUp,
  type SinkReader,
} from '../app/deliver.js';

/** Brings the outbox to one sink, in this process and without a queue: tries, waits, tries again. */
export class InlineDelivery {
  readonly #deps: DeliverDeps;
  readonly #reader: SinkReader;
  readonly #tries: number;
  readonly #done: Promise<void>;
  readonly #closing = new AbortController();

  constructor(deps: DeliverDeps, reader: SinkReader, tries: number) {
    this.#deps = deps;
    this.#reader = reader;
    this.#tries = tries;
    this.#done = this.#claim();
  }

  async #claim(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await claimForDelivery(this.#deps.outbox, this.#reader, 'inline', 100, (positions) =>
        this.#deliver(positions),
      );
    }
  }

  async #deliver(positions: string[]): Promise<void> {
    let waiting = positions;
    for (let n = 1; ; n++) {
      const rest = await deliver(this.#deps, this.#reader, waiting);
      if (rest === undefined) return;
      if (n >= this.#tries) return giveUp(this.#deps, this.#reader, rest);
      const { signal } = this.#closing;
      if (signal.aborted) return;
      await delay(backoffMs(n, 0.5, rest.retryAfterMs), undefined, { signal }).catch(() => {});
      waiting = rest.positions;
    }
  }

  /** Stops after one more try for what is claimed now. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#done;
    await this.#reader.sink.close();
  }
}
