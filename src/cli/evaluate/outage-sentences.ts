import type { Logger } from 'pino';
import type { OutageTeller } from '../../app/outage.js';
import { errorLogger } from '../../compose.js';
import { plain, say } from '../output.js';
import { refusalOf } from '../redis-trouble.js';
import type { Progress } from './progress.js';

const AGAIN_AFTER_MS = 30_000;

/** Tells a person that Redis went away, and that it is back; the progress stops guessing in between. */
export class OutageSentences implements OutageTeller {
  progress: Progress | undefined;
  readonly #log: (error: Error) => void;
  readonly #now: () => number;
  readonly #told = new Map<string, number>();

  constructor(log: Logger, now: () => number = Date.now) {
    this.#log = errorLogger(log);
    this.#now = now;
  }

  /** What Redis refuses for now is said every half minute, anything else goes to the log. */
  other(error: Error): void {
    const refusal = refusalOf(error);
    if (refusal === undefined) {
      this.#log(error);
      return;
    }
    const last = this.#told.get(refusal);
    if (last !== undefined && this.#now() - last < AGAIN_AFTER_MS) return;
    this.#told.set(refusal, this.#now());
    say(`sluice: ${refusal} Trying again until then.`);
  }

  away(reason: string): void {
    say(`sluice: Redis is away: ${plain(reason)}; waiting`);
    this.progress?.wait(true);
  }

  back(): void {
    say('sluice: Redis is back');
    this.progress?.wait(false);
  }
}
