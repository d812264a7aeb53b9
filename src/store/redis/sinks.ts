import type { OutboxEvent } from '../../core/events.js';
import type { SinkState, SinkStateStore } from '../../ports/dead-letters.js';
import type { RedisContext } from './context.js';

/** `<state> <since> <the rest as JSON>` as it is stored. */
function stateOf(stored: string): SinkState {
  const [state = 'delivering', since = '0'] = stored.split(' ', 2);
  const rest = JSON.parse(stored.slice(state.length + since.length + 2)) as SinkState;
  return { ...rest, state: state as SinkState['state'], since: Number(since) };
}

/** States of sinks: one hash, by name. */
export class RedisSinks implements SinkStateStore {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  get #key(): string {
    return `${this.#context.prefix}sinks`;
  }

  async note({ state, since, ...rest }: SinkState, event?: OutboxEvent): Promise<void> {
    const { scripts, prefix } = this.#context;
    await scripts['note-sink'](prefix, rest.name, state, since, JSON.stringify(rest), event?.json ?? '');
  }

  async get(name: string): Promise<SinkState | undefined> {
    const stored = await this.#context.client.hget(this.#key, name);
    return stored === null ? undefined : stateOf(stored);
  }

  async list(): Promise<SinkState[]> {
    const found = await this.#context.client.hvals(this.#key);
    return found.map(stateOf).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async remove(name: string): Promise<boolean> {
    return (await this.#context.client.hdel(this.#key, name)) === 1;
  }
}
