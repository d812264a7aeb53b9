import type { Logger } from 'pino';
import type { OutageTeller } from '../../app/outage.js';
import { errorLogger } from '../../compose.js';
import { plain, say } from '../output.js';
import type { Progress } from './progress.js';

/** Tells a person that Redis went away, and that it is back; the progress stops guessing in between. */
export class OutageSentences implements OutageTeller {
  progress: Progress | undefined;
  /** Trouble that is no outage goes to the log. */
  readonly other: (error: Error) => void;

  constructor(log: Logger) {
    this.other = errorLogger(log);
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
