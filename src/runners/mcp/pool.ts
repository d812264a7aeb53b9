import { failure } from '../../core/failure.js';
import { afterStart, noRestarts, pauseOf, type Restarts } from '../../core/mcp/restarts.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Connection, Noise } from './connection.js';
import { McpSession, within } from './session.js';

/** Calls that one session has under way; more wait for their turn. */
const MOST_IN_FLIGHT = 32;

/** Why a start failed because of the settings: trying again changes nothing, and costs nothing. */
const NO_START: ReadonlySet<string> = new Set(['mcp_not_configured']);

/** The sessions of this worker with one server: opened when they are needed, and kept. */
export class McpPool {
  readonly #sessions = new Set<McpSession>();
  readonly #openings = new Set<Promise<McpSession | RunFailure>>();
  readonly #stops = new Set<Promise<void>>();
  readonly #closed = new AbortController();
  #waiting: (() => void)[] = [];
  #restarts: Restarts = noRestarts;
  #lastFailure: RunFailure | undefined;

  constructor(
    readonly server: string,
    private readonly limit: number,
    private readonly connect: (noise: Noise) => Promise<Connection | RunFailure>,
  ) {}

  /**
   * Lets `work` use a session: an idle one, a new one where there is room, else the one with the fewest
   * calls. Rejects when `signal` is aborted before it has one; the failure says why there can be none.
   */
  async use<T>(signal: AbortSignal, work: (session: McpSession) => Promise<T>): Promise<T | RunFailure> {
    const session = await this.#acquire(signal);
    if ('kind' in session) return session;
    try {
      return await work(session);
    } finally {
      session.inFlight -= 1;
      if (session.isOver) this.#discard(session);
      this.#changed();
    }
  }

  /** Ends every session; what is under way fails. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the worker is ending'));
    this.#changed();
    await Promise.allSettled(this.#openings);
    for (const session of this.#sessions) this.#stop(session);
    await Promise.allSettled(this.#stops);
  }

  async #acquire(signal: AbortSignal): Promise<McpSession | RunFailure> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#closed.signal.aborted)
        return failure('mcp_closed', `the MCP server ${this.server} was not called: the worker is ending`);
      const best = this.#best();
      const hasRoom = this.#living().length + this.#openings.size < this.limit;
      if (best !== undefined && (best.inFlight === 0 || !hasRoom)) {
        if (best.checking === undefined) {
          best.inFlight += 1;
          return best;
        }
        await within(best.checking, signal);
      } else if (hasRoom || this.#openings.size > 0) {
        const opened = await within(hasRoom ? this.#open() : this.#opening(), signal);
        if ('kind' in opened) return opened;
      } else await this.#change(signal);
    }
  }

  #living(): McpSession[] {
    return [...this.#sessions].filter(({ isOver }) => !isOver);
  }

  #best(): McpSession | undefined {
    const free = this.#living().filter(({ inFlight }) => inFlight < MOST_IN_FLIGHT);
    const rank = ({ checking, inFlight }: McpSession) =>
      inFlight + (checking === undefined ? 0 : MOST_IN_FLIGHT);
    return free.sort((a, b) => rank(a) - rank(b))[0];
  }

  #opening(): Promise<McpSession | RunFailure> {
    return Promise.race(this.#openings);
  }

  #open(): Promise<McpSession | RunFailure> {
    const pause = pauseOf(this.#restarts, performance.now());
    if (pause > 0 && this.#lastFailure !== undefined) {
      const again = `; it is tried again in ${Math.ceil(pause / 1000)} s`;
      return Promise.resolve({ ...this.#lastFailure, message: this.#lastFailure.message + again });
    }
    const opening = this.#start();
    this.#openings.add(opening);
    void opening.finally(() => {
      this.#openings.delete(opening);
      this.#changed();
    });
    return opening;
  }

  async #start(): Promise<McpSession | RunFailure> {
    let session: McpSession | undefined;
    const onOver = () => {
      if (session === undefined) return;
      if (session.inFlight === 0) this.#discard(session);
      this.#changed();
    };
    const opened = await McpSession.open(this.server, this.connect, this.#closed.signal, onOver).catch(
      (error: Error) =>
        failure('internal', `the MCP server ${this.server} could not be opened: ${error.message}`),
    );
    const failed = 'kind' in opened ? opened : undefined;
    if (failed === undefined || !NO_START.has(failed.reason)) {
      this.#restarts = afterStart(this.#restarts, failed === undefined, performance.now());
      this.#lastFailure = failed;
    }
    if ('kind' in opened) return opened;
    session = opened;
    this.#sessions.add(opened);
    if (opened.isOver) this.#discard(opened);
    return opened;
  }

  #discard(session: McpSession): void {
    if (session.inFlight > 0 || !this.#sessions.has(session)) return;
    this.#stop(session);
  }

  #stop(session: McpSession): void {
    this.#sessions.delete(session);
    const stop = session.stop();
    this.#stops.add(stop);
    void stop.finally(() => this.#stops.delete(stop));
  }

  #changed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #change(signal: AbortSignal): Promise<void> {
    const change = new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
    return within(change, signal);
  }
}
