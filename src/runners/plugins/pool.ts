import { failureWithOutput } from '../../core/failure.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Processes } from '../process/request.js';
import { PluginChild } from './child.js';
import type { Located } from './locate.js';

/** Children that one module has at a time, each with one call in hand. */
const MOST_CHILDREN = 2;
/** Milliseconds after which a child that has nothing to do is ended. */
const IDLE_MS = 60_000;
/** Milliseconds for which calls get the reason why no child could be started, before another is tried. */
const PAUSE_MS = 1_000;

/** Takes a child, or why there is none. */
type Waiting = (came: PluginChild | RunFailure) => void;

/** The children of one module: started when they are needed, and kept for the calls that follow. */
export class PluginPool {
  readonly #located: Located;
  readonly #network: boolean;
  readonly #processes: Processes;
  readonly #children = new Set<PluginChild>();
  readonly #idle = new Map<PluginChild, NodeJS.Timeout>();
  readonly #starting = new Set<Promise<void>>();
  readonly #stopping = new Set<Promise<void>>();
  #waiting: Waiting[] = [];
  readonly #ending = new AbortController();
  #broken: { failure: RunFailure; until: number } | undefined;
  #closed = false;

  constructor(located: Located, network: boolean, processes: Processes) {
    this.#located = located;
    this.#network = network;
    this.#processes = processes;
  }

  /** A child of one's own until it is given back; a failure when none can be had in time. Throws when aborted. */
  take(ms: number, signal?: AbortSignal): Promise<PluginChild | RunFailure> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
      };
      const waiting: Waiting = (came) => {
        leave();
        resolve(came);
      };
      const abort = () => {
        leave();
        reject(new Error('stopped: the worker is shutting down', { cause: signal?.reason }));
      };
      const message = `no process of the plugin ${this.#located.module} was free within ${Math.round(ms)} ms`;
      const timer = setTimeout(() => waiting(failureWithOutput('deadline', message)), ms);
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
      if (signal?.aborted) abort();
      else this.#next();
    });
  }

  /** Gives a child back. */
  give(child: PluginChild): void {
    if (child.isAlive && !this.#closed) {
      this.#idle.set(child, setTimeout(() => this.#end(child), IDLE_MS).unref());
    } else this.#end(child);
    this.#next();
  }

  /** Ends a child that is not to be used again; resolves when it is gone. */
  async discard(child: PluginChild): Promise<void> {
    this.#end(child);
    await child.stop();
    this.#next();
  }

  /** Ends all children; what waits for one is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#ending.abort();
    this.#refuse(this.#stopped());
    await Promise.all(this.#starting);
    for (const child of [...this.#children]) this.#end(child);
    await Promise.all(this.#stopping);
  }

  #next(): void {
    if (this.#closed) this.#refuse(this.#stopped());
    for (const [child, timer] of this.#idle) {
      if (this.#waiting.length === 0) return;
      clearTimeout(timer);
      this.#idle.delete(child);
      if (child.isAlive) this.#waiting[0]?.(child);
    }
    if (this.#broken !== undefined && performance.now() < this.#broken.until) {
      this.#refuse(this.#broken.failure);
      return;
    }
    const room = MOST_CHILDREN - this.#children.size - this.#starting.size;
    const needed = this.#waiting.length - this.#starting.size;
    for (let n = 0; n < Math.min(room, needed); n += 1) this.#start();
  }

  #stopped(): RunFailure {
    return failureWithOutput('stopped', `the plugin ${this.#located.module} was stopped`);
  }

  #start(): void {
    const start = this.#started().then((failure) => {
      this.#starting.delete(start);
      if (failure !== undefined) this.#refuse(failure);
      this.#next();
    });
    this.#starting.add(start);
  }

  async #started(): Promise<RunFailure | undefined> {
    const { signal } = this.#ending;
    const child = await PluginChild.start(this.#located, this.#network, this.#processes, signal).catch(
      (error: Error): RunFailure => failureWithOutput('not_started', error.message),
    );
    if ('kind' in child) {
      this.#broken = { failure: child, until: performance.now() + PAUSE_MS };
      return child;
    }
    this.#children.add(child);
    void child.ended.then(() => this.#lost(child));
    this.give(child);
    return undefined;
  }

  /** Of all that wait; where there are children, those will be free. */
  #refuse(failure: RunFailure): void {
    if (this.#children.size > 0 && !this.#closed) return;
    for (const waiting of [...this.#waiting]) waiting(failure);
  }

  /** It ended by itself, or was ended: another may take its place. */
  #lost(child: PluginChild): void {
    clearTimeout(this.#idle.get(child));
    this.#idle.delete(child);
    if (this.#children.delete(child)) this.#next();
  }

  #end(child: PluginChild): void {
    clearTimeout(this.#idle.get(child));
    this.#idle.delete(child);
    this.#children.delete(child);
    const stop = child.stop().finally(() => this.#stopping.delete(stop));
    this.#stopping.add(stop);
  }
}
