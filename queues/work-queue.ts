import type { Redis } from 'ioredis';
import type { Turns } from '../src/core/fairness.js';
import type { Chunk } from '../src/core/manifest.js';
import type { Pack } from '../src/core/packing.js';
import { shardOf } from '../src/core/shards.js';
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
  readonly #shards: number;
  readonly #spread: number;
  readonly #open: (shard: number) => Promise<Flows>;
  readonly #flows = new Map<number, Promise<Flows>>();

  /**
   * `shards`: how many there are, `spread`: over how many of them new work goes, both 1 by default; `tries`: how often a pack is run before
   * infrastructure trouble makes it an error; `telemetry` carries traces in jobs.
   */
  constructor(
    place: Pick<QueuePlace, 'url' | 'fleet'> & { shards?: number; spread?: number },
    tries: number,
    onError: (error: Error) => void,
    { telemetry }: Pick<Observers, 'telemetry'> = {},
  ) {
    this.#connection = connect(place.url, onError);
    this.#fleet = place.fleet;
    this.#shards = place.shards ?? 1;
    this.#spread = place.spread ?? this.#shards;
    this.#open = async (shard) => {
      const { Flows } = await import('./flows.js');
      return new Flows(this.#connection, place.fleet, tries, onError, shard, telemetry);
    };
  }

  #opened(shard: number): Promise<Flows> {
    const known = this.#flows.get(shard);
    if (known !== undefined) return known;
    const opening = this.#open(shard);
    this.#flows.set(shard, opening);
    return opening;
  }

  #flowsOf(chunk: string): Promise<Flows> {
    return this.#opened(shardOf(chunk, this.#spread));
  }

  async enqueue(
    chunk: Pick<Chunk, 'id' | 'attempt' | 'acceptedAt' | 'turns'>,
    generation: number,
    packs: readonly Pack[],
  ): Promise<void> {
    await (await this.#flowsOf(chunk.id)).enqueue(chunk, generation, packs);
  }

  front(): Promise<Turns> {
    return frontOf(this.#connection, this.#fleet, this.#shards);
  }

  async isAlive(chunk: Pick<Chunk, 'id' | 'attempt'>, generation: number): Promise<boolean> {
    return (await this.#flowsOf(chunk.id)).isAlive(chunk, generation);
  }

  /** Removes failed children whose parents went on long ago (DESIGN 5.6). */
  async removeFailed(olderThanMs: number): Promise<void> {
    for (let shard = 0; shard < this.#shards; shard += 1)
      await (await this.#opened(shard)).removeFailed(olderThanMs);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#flows.values()].map(async (flows) => (await flows).close()));
    this.#connection.disconnect();
  }
}
