import { pause } from './in-hand.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A connection that was lost sooner did not end the trouble. */
const STEADY_MS = 3_000;

/** Why a connection ended that is better not made again at once. */
export class LongPause extends Error {
  readonly pauseMs: number;

  constructor(message: string, pauseMs: number) {
    super(message);
    this.pauseMs = pauseMs;
  }
}

/**
 * Keeps a connection for as long as it is wanted: makes it again whenever it is lost, after pauses that
 * grow from 100 ms to 5 s. The same trouble is told once until it is over.
 */
export class Keeper {
  readonly #hold: (isUp: () => void, ended: AbortSignal) => Promise<never>;
  readonly #onError: (error: Error) => void;
  readonly #ended = new AbortController();
  #told = '';

  /** `hold` connects, says when it is up, and throws once the connection is lost or cannot be made. */
  constructor(
    hold: (isUp: () => void, ended: AbortSignal) => Promise<never>,
    onError: (error: Error) => void,
  ) {
    this.#hold = hold;
    this.#onError = onError;
  }

  /** Resolves when the connection is up, or its first try has failed. Goes on until `end`. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      void this.#run(resolve);
    });
  }

  end(): void {
    this.#ended.abort();
  }

  async #run(tried: () => void): Promise<void> {
    const { signal } = this.#ended;
    let wait = FIRST_PAUSE_MS;
    let upSince = Number.POSITIVE_INFINITY;
    const isUp = () => {
      upSince = performance.now();
      tried();
    };
    while (!signal.aborted) {
      upSince = Number.POSITIVE_INFINITY;
      const error = await this.#hold(isUp, signal).catch((reason: Error) => reason);
      tried();
      if (signal.aborted) return;
      if (performance.now() - upSince >= STEADY_MS) {
        wait = FIRST_PAUSE_MS;
        this.#told = '';
      }
      this.#tell(error);
      await pause(error instanceof LongPause ? error.pauseMs : wait, signal);
      wait = Math.min(wait * 2, LONGEST_PAUSE_MS);
    }
  }

  #tell(error: Error): void {
    if (error.message === this.#told) return;
    this.#told = error.message;
    this.#onError(new Error(error.message));
  }
}
