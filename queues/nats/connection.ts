import { dial, type NatsLink, type NatsPlace } from './dial.js';
import { natsReason } from './trouble.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
const FLUSH_MS = 500;
const CLOSE_MS = 1_000;

/** A connection that is made anew whenever it is lost, until it is closed. */
export class StandingConnection {
  readonly #place: NatsPlace;
  readonly #onError: (error: Error) => void;
  /** Hear of every change: connected, failed, closed. */
  readonly #listeners = new Set<() => void>();
  #link: NatsLink | undefined;
  #isClosed = false;
  /** Ends the pause before the next try. */
  #nudge = () => {};
  #reason = '';
  #failures = 0;

  /** `onError` hears of each new trouble once. */
  constructor(place: NatsPlace, onError: (error: Error) => void) {
    this.#place = place;
    this.#onError = onError;
    void this.#run();
  }

  /** The connection now, after at most one more try of `waitMs`; throws why there is none. */
  async link(waitMs: number): Promise<NatsLink> {
    if (this.#link !== undefined) return this.#link;
    const before = this.#failures;
    this.#nudge();
    const isSettled = () => this.#link !== undefined || this.#isClosed || this.#failures > before;
    await this.#until(isSettled, waitMs);
    if (this.#link !== undefined) return this.#link;
    throw new Error(this.#isClosed ? 'it is closed' : this.#reason || 'no server answers');
  }

  /** The connection as soon as there is one, however long it takes; undefined once it is closed. */
  async connected(): Promise<NatsLink | undefined> {
    await this.#until(() => this.#link !== undefined || this.#isClosed);
    return this.#isClosed ? undefined : this.#link;
  }

  /** Sends what is under way, and ends within about a second whatever the server does. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#nudge();
    this.#changed();
    await this.#end(this.#link);
  }

  async #run(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (!this.#isClosed) {
      try {
        const link = await dial(this.#place);
        if (this.#isClosed) return await this.#end(link);
        pause = FIRST_PAUSE_MS;
        await this.#hold(link);
      } catch (error) {
        this.#failed(error);
      }
      if (this.#isClosed) return;
      await this.#rest(pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  /** Until this connection is lost. */
  async #hold(link: NatsLink): Promise<void> {
    this.#link = link;
    this.#reason = '';
    this.#changed();
    void this.#listen(link);
    const why = await link.client.closed();
    this.#link = undefined;
    throw why ?? new Error('the connection was lost');
  }

  /** What the server complains about, such as a subject that is not allowed. */
  async #listen({ client }: NatsLink): Promise<void> {
    for await (const status of client.status()) if (status.type === 'error') this.#tell(status.error);
  }

  #failed(error: unknown): void {
    if (this.#isClosed) return;
    this.#failures += 1;
    this.#tell(error);
    this.#changed();
  }

  #tell(error: unknown): void {
    const reason = natsReason(error);
    if (reason === this.#reason) return;
    this.#reason = reason;
    this.#onError(new Error(reason));
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #until(isSo: () => boolean, waitMs?: number): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        resolve();
      };
      const look = () => {
        if (isSo()) end();
      };
      const timer = waitMs === undefined ? undefined : setTimeout(end, waitMs);
      this.#listeners.add(look);
    });
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#nudge = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #end(link: NatsLink | undefined): Promise<void> {
    if (link === undefined) return;
    await within(FLUSH_MS, link.client.flush());
    await within(CLOSE_MS, link.client.close());
  }
}

/** Waits for it, and no longer than `ms`; how it ends does not matter. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise.catch(() => {}), late]);
  clearTimeout(timer);
}
