import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Chunk } from '../core/manifest.js';
import type { Pack } from '../core/packing.js';
import type { PackAnswer, PackJob, WorkQueue } from '../ports/queue.js';

/** What the inline queue runs its work with. */
export interface InlineHandlers {
  run(job: PackJob): Promise<PackAnswer>;
  decide(chunk: string): Promise<void>;
  onError(error: Error): void;
}

/** A queue that runs a flow at once, in this process: its packs, then its decision. */
export class InlineQueue implements WorkQueue {
  readonly #handlers: InlineHandlers;
  readonly #abort = new AbortController();

  constructor(handlers: InlineHandlers) {
    this.#handlers = handlers;
    // Whatever runs listens to it.
    setMaxListeners(0, this.#abort.signal);
  }

  async enqueue(
    { id, attempt, acceptedAt }: Pick<Chunk, 'id' | 'attempt' | 'acceptedAt'>,
    generation: number,
    packs: readonly Pack[],
  ): Promise<void> {
    const { decide, onError } = this.#handlers;
    const common = { chunk: id, attempt, generation, acceptedAt, tries: 1, stalled: 0 };
    for (const pack of packs) {
      // A pack that fails leaves its checks without results: the decision makes errors of them.
      await this.#run({ ...common, pack }).catch(onError);
    }
    await decide(id);
  }

  /** Comes again while it is beyond its limits; parts of a pack that is split run one after the other. */
  async #run(job: Omit<PackJob, 'signal'>): Promise<void> {
    const { signal } = this.#abort;
    let answer = await this.#handlers.run({ ...job, signal });
    while (answer.kind === 'limited') {
      await delay(answer.pauseMs, undefined, { signal });
      answer = await this.#handlers.run({ ...job, signal, limitedSince: answer.since });
    }
    if (answer.kind !== 'split') return;
    for (const pack of answer.packs) await this.#run({ ...job, pack });
  }

  async isAlive(): Promise<boolean> {
    return true;
  }

  async close(): Promise<void> {
    this.#abort.abort();
  }
}
