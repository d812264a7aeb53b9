import type { MatchRequest } from '../core/validators/validator.js';
import type { Matcher, TimedMatch } from '../ports/matcher.js';

interface Caller {
  requests: readonly MatchRequest[];
  resolve: (answers: TimedMatch[]) => void;
  reject: (error: unknown) => void;
}

/**
 * One guarded pass for all callers of a turn of the event loop: a guarded call costs about 100
 * microseconds, which many jobs of one check each would otherwise pay one by one.
 */
export class CoalescingMatcher implements Matcher {
  readonly #matcher: Matcher;
  #callers: Caller[] = [];
  #busy = false;

  constructor(matcher: Matcher) {
    this.#matcher = matcher;
  }

  matchAll(requests: readonly MatchRequest[]): Promise<TimedMatch[]> {
    return new Promise((resolve, reject) => {
      this.#callers.push({ requests, resolve, reject });
      if (this.#busy) return;
      this.#busy = true;
      setImmediate(() => void this.#serve());
    });
  }

  async #serve(): Promise<void> {
    while (this.#callers.length > 0) {
      const callers = this.#callers;
      this.#callers = [];
      await this.#answer(callers);
    }
    this.#busy = false;
  }

  async #answer(callers: readonly Caller[]): Promise<void> {
    try {
      const answers = await this.#matcher.matchAll(callers.flatMap(({ requests }) => requests));
      let from = 0;
      for (const { requests, resolve } of callers) {
        resolve(answers.slice(from, from + requests.length));
        from += requests.length;
      }
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
  }
}
