import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../core/backoff.js';
import type { SinkDelivery } from '../ports/delivery.js';

/** Brings the outbox to one sink, in this process and without a queue: tries, waits, tries again. */
export class InlineDelivery {
  readonly #delivery: SinkDelivery;
  readonly #tries: number;
  readonly #done: Promise<void>;
  readonly #closing = new AbortController();

  constructor(delivery: SinkDelivery, tries: number) {
    this.#delivery = delivery;
    this.#tries = tries;
    this.#done = this.#claim();
  }

  async #claim(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#delivery.claim('inline', 100, (positions) => this.#deliver(positions));
    }
  }

  async #deliver(positions: string[]): Promise<void> {
    let waiting = positions;
    for (let n = 1; ; n++) {
      const rest = await this.#delivery.deliver(waiting);
      if (rest === undefined) return;
      if (n >= this.#tries) return this.#delivery.giveUp(rest);
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
    await this.#delivery.close();
  }
}
