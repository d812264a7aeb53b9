import { setTimeout as delay } from 'node:timers/promises';
import { SluiceError } from '../../core/problem.js';
import { endWorkersAtOnce } from '../executors.js';
import { reportFailure } from '../failure.js';
import { say } from '../output.js';

const TELL_MS = 1000;

/** What is left to do when a batch does not come to its end. */
export function restOf(durable: boolean, resume: string): string {
  return durable
    ? `Finish the batch with: ${resume}`
    : 'The inline engine keeps nothing, so there is nothing to go on from.';
}

/** How far the command is, for the person who interrupts it. */
export class Ending {
  readonly #json: boolean;
  #rest = 'Nothing was submitted.';
  #drainMs: number | undefined;
  #printing = false;

  constructor(json: boolean) {
    this.#json = json;
  }

  /** From here on there is a batch to go on with, and work in hand that takes up to `drainMs` to finish. */
  begin(durable: boolean, resume: string, drainMs: number): void {
    this.#rest = restOf(durable, resume);
    this.#drainMs = drainMs;
  }

  /** From here on standard output has its document, or a part of it. */
  print(): void {
    this.#printing = true;
  }

  /** The first interrupt. */
  tell(): void {
    const what =
      this.#drainMs === undefined
        ? 'stopping'
        : `finishing what is in hand, up to ${Math.ceil(this.#drainMs / 1000)} s`;
    say(`sluice: ${what}; Ctrl-C again to stop at once`);
  }

  /** The second one: says how to go on, and leaves no worker process behind. */
  async stop(): Promise<void> {
    const error = new SluiceError('INTERRUPTED', `Stopped at once. ${this.#rest}`);
    const told = reportFailure(error, this.#json && !this.#printing);
    await Promise.race([Promise.all([told, endWorkersAtOnce()]), delay(TELL_MS)]);
  }
}
