import { setMaxListeners } from 'node:events';
import type { IncomingMessage, Take, Taken } from '../../src/ports/source.js';

const SHORTEST_PAUSE_MS = 50;
/** Takers do not throw; one that does all the same must not end the process. */
const NOT_TAKEN: Taken = { kind: 'later', afterMs: 1_000, reason: 'it could not be taken' };

/** Messages that a source holds: taken at most so many at a time, until each is done or let go. */
export class InHand {
  readonly #take: Take;
  readonly #most: number;
  readonly #closing = new AbortController();
  readonly #waiting: (() => void)[] = [];
  readonly #held = new Set<Promise<boolean>>();
  /** One for each connection: signals that are put together for each message are never forgotten by Node. */
  readonly #ends = new WeakMap<AbortSignal, AbortSignal>();
  #count = 0;

  constructor(take: Take, most: number) {
    this.#take = take;
    this.#most = most;
  }

  /**
   * Takes a message until it is done; what was put off waits here, and is taken again. False: it was let
   * go because the source closes or its connection is `gone`, and must not be acknowledged.
   */
  hold(message: IncomingMessage, gone: AbortSignal): Promise<boolean> {
    const held = this.#hold(message, this.#endOf(gone));
    this.#held.add(held);
    const forget = () => this.#held.delete(held);
    held.then(forget, forget);
    return held;
  }

  /** Takes nothing more, and waits for what is being taken; what was put off is let go at once. */
  async close(deadlineMs: number): Promise<void> {
    this.#closing.abort();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, deadlineMs);
    });
    await Promise.race([Promise.allSettled(this.#held), late]);
    clearTimeout(timer);
  }

  #endOf(gone: AbortSignal): AbortSignal {
    let ended = this.#ends.get(gone);
    if (ended === undefined) {
      ended = AbortSignal.any([gone, this.#closing.signal]);
      setMaxListeners(0, ended);
      this.#ends.set(gone, ended);
    }
    return ended;
  }

  async #hold(message: IncomingMessage, ended: AbortSignal): Promise<boolean> {
    if (!(await this.#slot(ended))) return false;
    try {
      while (!ended.aborted) {
        const taken = await this.#take(message).catch((): Taken => NOT_TAKEN);
        if (taken.kind === 'done') return true;
        await pause(Math.max(taken.afterMs, SHORTEST_PAUSE_MS), ended);
      }
      return false;
    } finally {
      this.#free();
    }
  }

  /** Waits until one more may be taken. */
  async #slot(ended: AbortSignal): Promise<boolean> {
    while (!ended.aborted && this.#count >= this.#most) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          ended.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiting.push(wake);
        ended.addEventListener('abort', wake);
      });
    }
    if (ended.aborted) {
      // It may have been woken in place of one that lives.
      this.#waiting.shift()?.();
      return false;
    }
    this.#count += 1;
    return true;
  }

  #free(): void {
    this.#count -= 1;
    this.#waiting.shift()?.();
  }
}

/** Resolves after so many milliseconds, or when it is ended. */
export function pause(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (ended.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      ended.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1));
    ended.addEventListener('abort', end);
  });
}
