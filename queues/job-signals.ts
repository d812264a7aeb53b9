/**
 * Signals of the jobs that are in hand, each made when its job first asks for it: most jobs never ask, and
 * making one takes as long as many searches.
 */
export class JobSignals {
  readonly #asked = new Set<AbortController>();
  #reason: string | undefined;

  /** Runs the work of one job; `signal` gives the job's signal, always the same one. */
  async during<T>(work: (signal: () => AbortSignal) => Promise<T>): Promise<T> {
    let own: AbortController | undefined;
    try {
      return await work(() => {
        own ??= this.#make();
        return own.signal;
      });
    } finally {
      if (own !== undefined) this.#asked.delete(own);
    }
  }

  /** Aborts every job in hand, and those that come after. */
  abort(reason: string): void {
    this.#reason = reason;
    for (const controller of this.#asked) controller.abort(reason);
  }

  #make(): AbortController {
    const controller = new AbortController();
    if (this.#reason !== undefined) controller.abort(this.#reason);
    this.#asked.add(controller);
    return controller;
  }
}
