import type { Redis } from 'ioredis';

/** Connections that stay open for the next who waits. */
const IDLE = 2;

/** Connections for commands that wait: one each while it does, however many there were before. */
export class WaitingPool {
  readonly #open: () => Redis;
  readonly #idle: Redis[] = [];
  readonly #busy = new Set<Redis>();
  #closed = false;

  /** `open` makes a connection. */
  constructor(open: () => Redis) {
    this.#open = open;
  }

  /** Runs a command that waits. Throws what it throws; the connection is not used again then. */
  async run<T>(command: (client: Redis) => Promise<T>): Promise<T> {
    const client = this.#idle.pop() ?? this.#open();
    this.#busy.add(client);
    let isFit = false;
    try {
      const answer = await command(client);
      isFit = true;
      return answer;
    } finally {
      this.#busy.delete(client);
      if (isFit && !this.#closed && this.#idle.length < IDLE) this.#idle.push(client);
      else client.disconnect();
    }
  }

  close(): void {
    this.#closed = true;
    for (const client of [...this.#idle, ...this.#busy]) client.disconnect();
  }
}
