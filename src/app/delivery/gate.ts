import {
  afterLook,
  afterSign,
  type Circuit,
  mayTry,
  openCircuit,
  type Sign,
} from '../../core/delivery-circuit.js';
import { deliveryDisabledEvent } from '../../core/delivery-events.js';
import type { SinkState } from '../../ports/dead-letters.js';
import type { DeliverDeps, SinkReader } from './reader.js';

/** How often to look at what other dispatchers and operators noted, in milliseconds. */
const LOOK_EVERY_MS = 2000;
/** Longest timer in milliseconds; whoever waits longer looks again meanwhile. */
const LONGEST_TIMER_MS = 60_000;

/** Leave to try the sink; to be ended, whatever came of it. */
export interface Turn {
  /** Nobody else tries the sink until this one has told what came of it. */
  readonly probe: boolean;
  /** What came of it for the sink as a whole. */
  sign(sign: Sign): void;
  end(): void;
}

/**
 * Lets deliveries through to a sink while it works, holds them while it is away, and lets one through as
 * a probe from time to time. Its state is noted in the store, for operators and other dispatchers.
 */
export class SinkGate {
  readonly #deps: DeliverDeps;
  readonly #reader: SinkReader;
  readonly #waiting = new Set<() => void>();
  readonly #ready: Promise<void>;
  readonly #look: NodeJS.Timeout;
  /** What the sink answered when it was last found away or gone. */
  lastResponse: string | null = null;
  #circuit: Circuit;
  #closed = false;
  /** Writes of the state, one after the other. */
  #noting: Promise<unknown> = Promise.resolve();

  constructor(deps: DeliverDeps, reader: SinkReader) {
    this.#deps = deps;
    this.#reader = reader;
    this.#circuit = openCircuit(undefined, deps.clock.now());
    this.#ready = this.#open();
    this.#look = setInterval(() => void this.#lookAround(), LOOK_EVERY_MS).unref();
  }

  get circuit(): Circuit {
    return this.#circuit;
  }

  /** Resolves once it is known how the sink was left. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * Waits for leave to try the sink. `overdue`: the sink is away and `until` (milliseconds since the epoch)
   * has passed; `stopped`: delivery ends.
   */
  async enter(until: number, signal: AbortSignal): Promise<Turn | 'overdue' | 'stopped'> {
    await this.#ready;
    for (;;) {
      if (this.#closed || signal.aborted) return 'stopped';
      const now = this.#deps.clock.now();
      const may = mayTry(this.#circuit, now);
      if (may !== 'wait') return this.#turn(may === 'probe');
      const { nextTry, probing } = this.#circuit;
      if (now >= until && !probing) return 'overdue';
      const wakeAt = probing ? Number.POSITIVE_INFINITY : Math.min(until, nextTry ?? until);
      await this.pause(wakeAt - now, signal);
    }
  }

  /** Leave to try the sink now; undefined: not now. */
  async enterNow(): Promise<Turn | undefined> {
    await this.#ready;
    const may = mayTry(this.#circuit, this.#deps.clock.now());
    return may === 'wait' ? undefined : this.#turn(may === 'probe');
  }

  /** Waits for a change of the state, `ms` at most; returns sooner when delivery ends. */
  pause(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#closed || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(1, Math.min(ms, LONGEST_TIMER_MS)));
      this.#waiting.add(done);
      signal?.addEventListener('abort', done);
    });
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#look);
    this.#wake();
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }

  #turn(probe: boolean): Turn {
    if (probe) this.#circuit = { ...this.#circuit, probing: true };
    let holds = probe;
    return {
      probe,
      sign: (sign) => {
        const { random = Math.random, clock } = this.#deps;
        const begun = { probe: holds, longestMs: this.#reader.longestWaitMs, jitter: random() };
        holds = false;
        this.#become(afterSign(this.#circuit, sign, begun, clock.now()));
      },
      end: () => {
        if (!holds) return;
        holds = false;
        this.#become({ ...this.#circuit, probing: false });
      },
    };
  }

  #become(next: Circuit): void {
    const { state, nextTry, probing } = this.#circuit;
    this.#circuit = next;
    const isChange = next.state !== state;
    if (isChange || next.nextTry !== nextTry) this.#note();
    if (isChange) this.#deps.onState?.(this.#state());
    if (isChange || next.nextTry !== nextTry || next.probing !== probing) this.#wake();
  }

  #state(): SinkState {
    const { state, reason, since, nextTry } = this.#circuit;
    return { name: this.#reader.name, ...this.#reader.describe, state, reason, since, nextTry };
  }

  #note(): void {
    const { fleet, sinks, onError } = this.#deps;
    const state = this.#state();
    const event =
      state.state === 'disabled'
        ? deliveryDisabledEvent(fleet, state, state.reason ?? '', state.since)
        : undefined;
    this.#noting = this.#noting
      .then(() => sinks.note(state, event))
      .catch((error: Error) => onError?.(error));
  }

  async #open(): Promise<void> {
    const { sinks, clock, onError } = this.#deps;
    try {
      const left = await sinks.get(this.#reader.name);
      const { kind, target } = this.#reader.describe;
      // Another target is another receiver: what the old one answered says nothing of it.
      const isSame = left?.kind === kind && left.target === target;
      this.#circuit = openCircuit(isSame ? left : undefined, clock.now());
      this.#note();
      if (this.#circuit.state !== 'delivering') this.#deps.onState?.(this.#state());
    } catch (error) {
      onError?.(error as Error);
    }
  }

  /** Follows what others noted; what they overwrote while this one delivers is noted again. */
  async #lookAround(): Promise<void> {
    const { sinks, clock, onError } = this.#deps;
    try {
      await this.#ready;
      await this.#noting;
      const before = this.#circuit;
      const noted = await sinks.get(this.#reader.name);
      if (this.#circuit !== before || this.#closed) return;
      const next = afterLook(before, noted, clock.now());
      if (next !== before) this.#become(next);
      // Forgotten while it runs: it is there all the same, and only what is noted can be forgotten again.
      else if (noted === undefined) this.#note();
      else if (noted?.state === 'away' && before.state === 'delivering' && before.tookAt > noted.since)
        this.#note();
    } catch (error) {
      onError?.(error as Error);
    }
  }
}
