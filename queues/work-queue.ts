import type { Redis } from 'ioredis';
import type { Turns } from '../src/core/fairness.js';
import type { Chunk } from '../src/core/manifest.js';
import type { Pack } from '../src/core/packing.js';
import type { WorkQueue } from '../src/ports/queue.js';
import type { Flows } from './flows.js';
import { frontOf } from './front.js';
import type { Observers } from './observed.js';
import { connect, type QueuePlace } from './redis.js';

/**
 * The queues of a fleet. Its connection stands from the beginning, and tells of outages; BullMQ is
 * loaded when the queues are first used, since most commands only look at the store.
 */
export class BullWorkQueue implements WorkQueue {
  readonly #connection: Redis;
  readonly #fleet: string;
  readonly #open: () => Promise<Flows>;
  #flows: Promise<Flows> | undefined;

  /**
   * `tries`: how often a pack is run before infrastructure trouble makes it an error; `telemetry` carries
   * traces in jobs.
   */
  constructor(
    place: QueuePlace,
    tries: number,
    onError: (error: Error) => void,
    { telemetry }: Pick<Observers, 'telemetry'> = {},
  ) {
    this.#connection = connect(place.url, onError);
    this.#fleet = place.fleet;
    this.#open = async () => {
      const { Flows } = await import('./flows.js');
      return new Flows(this.#connection, place.fleet, tries, onError, place.shard, telemetry);
    };
  }

  #opened(): Promise<Flows> {
    this.#flows ??= this.#open();
    return this.#flows;
  }

  async enqueue(
    chunk: Pick<Chunk, 'id' | 'attempt' | 'acceptedAt' | 'turns'>,
    generation: number,
    packs: readonly Pack[],
  ): Promise<void> {
    await (await this.#opened()).enqueue(chunk, generation, packs);
  }

  front(): Promise<Turns> {
    return frontOf(this.#connection, this.#fleet);
  }

  async isAlive(chunk: Pick<Chunk, 'id' | 'attempt'>, generation: number): Promise<boolean> {
    return (await this.#opened()).isAlive(chunk, generation);
  }

  /** Removes failed children whose parents went on long ago (DESIGN 5.6). */
  async removeFailed(olderThanMs: number): Promise<void> {
    await (await this.#opened()).removeFailed(olderThanMs);
  }

  async close(): Promise<void> {
    await this.#flows?.then((flows) => flows.close());
    this.#connection.disconnect();
  }
}
