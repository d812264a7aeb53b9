import type { OutboxEvent } from '../../core/events.js';
import type { SinkState, SinkStateStore } from '../../ports/dead-letters.js';
import type { MemoryState } from './state.js';

/** States of sinks in memory. */
export class MemorySinks implements SinkStateStore {
  readonly #state: MemoryState;
  readonly #sinks = new Map<string, SinkState>();

  constructor(state: MemoryState) {
    this.#state = state;
  }

  async note(state: SinkState, event?: OutboxEvent): Promise<void> {
    const old = this.#sinks.get(state.name);
    if (old?.state === 'disabled' && state.state === 'away') return;
    const isSame = old?.state === state.state;
    this.#sinks.set(state.name, { ...state, since: isSame ? old.since : state.since });
    if (!isSame && event !== undefined) this.#state.append([event]);
  }

  async get(name: string): Promise<SinkState | undefined> {
    const state = this.#sinks.get(name);
    return state === undefined ? undefined : { ...state };
  }

  async list(): Promise<SinkState[]> {
    return [...this.#sinks.values()]
      .map((state) => ({ ...state }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async remove(name: string): Promise<boolean> {
    return this.#sinks.delete(name);
  }
}
