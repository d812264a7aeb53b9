import type { Outbox } from '../../src/ports/store.js';
import { DeliveryCheck } from './exact.js';
import { expectedOf, runOf } from './workload.js';

const READER = 'bench';
const [PAGE, WAIT_MS, RECLAIM_MS] = [1000, 200, 3_600_000];

/**
 * Takes every event off the outbox, as a sink would, so that none is kept for longer than it must be. Decisions
 * are looked at afterwards: meanwhile that would take the machine's time.
 */
export class OutboxFollower {
  readonly #outbox: Outbox;
  readonly #decisions: string[] = [];
  #following: Promise<void> | undefined;
  #ended = false;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  async begin(): Promise<void> {
    await this.#outbox.openReader(READER, '');
    this.#following = this.#follow();
  }

  async #follow(): Promise<void> {
    for (;;) {
      const entries = await this.#outbox.claim(READER, READER, PAGE, WAIT_MS, RECLAIM_MS);
      for (const { event } of entries)
        if (/\.evaluation\.(passed|failed)\./.test(event.type)) this.#decisions.push(event.json);
      if (entries.length > 0)
        await this.#outbox.acknowledge(
          READER,
          entries.map(({ position }) => position),
        );
      else if (this.#ended) return;
    }
  }

  /** Resolves when it has taken everything. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#following;
  }

  /** What is wrong with a batch of so many runs of `runOf`. */
  faults(batch: string, count: number, bytes: number): string[] {
    const check = new DeliveryCheck(batch, (run) => {
      const n = Number(run.slice('run-'.length));
      return n >= 0 && n < count ? expectedOf(runOf(n, bytes).text) : undefined;
    });
    for (const json of this.#decisions) check.take(json);
    return check.faults(count);
  }
}
