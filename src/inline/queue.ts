import { setMaxListeners } from 'node:events';
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
    const { run, decide, onError } = this.#handlers;
    const common = { chunk: id, attempt, generation, acceptedAt, tries: 1, stalled: 0 };
    for (const pack of packs) {
      // A pack that fails leaves its checks without results: the decision makes errors of them.
      await run({ ...common, pack, signal: this.#abort.signal }).catch(onError);
    }
    await decide(id);
  }

  async isAlive(): Promise<boolean> {
    return true;
  }

  async close(): Promise<void> {
    this.#abort.abort();
  }
}
