import type { Job } from 'bullmq';
import type { PackPayload } from './payloads.js';

/**
 * Runs jobs that a dead worker had in hand one at a time in this process, and notes before each run
 * that it began. BullMQ counts a stall for every job in hand, the harmless ones beside the poisonous
 * one too; only what began alone and never came back is to blame (DESIGN 5.3).
 */
export class Suspects {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * `run` is told of one stall more than the lone runs that never came back. What it leaves to another
   * worker has not begun; the note goes when the job is put off.
   */
  run<T>(job: Job, payload: PackPayload, run: (stalled: number) => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      const begun = payload.begun ?? 0;
      await job.updateData({ ...payload, begun: begun + 1 } satisfies PackPayload);
      try {
        return await run(1 + begun);
      } catch (error) {
        await job.updateData({ ...payload, begun } satisfies PackPayload);
        throw error;
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
