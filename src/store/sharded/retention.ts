import type { Forgotten, RetentionRules, RetentionStore } from '../../ports/retention.js';
import { cursorsIn } from './batches.js';
import type { Shards } from './shards.js';

/** How long batches stay whose parts are in several shards: each shard looks after its own. */
export class ShardedRetention implements RetentionStore {
  readonly #shards: Shards;

  constructor(shards: Shards) {
    this.#shards = shards;
  }

  async follow(batch: string, follower: string, cursor: string, now: number, forMs: number): Promise<void> {
    const cursors = cursorsIn(cursor, this.#shards.count);
    await this.#shards.each(({ retention }, shard) =>
      retention.follow(batch, follower, cursors[shard] ?? '', now, forMs),
    );
  }

  async unfollow(batch: string, follower: string): Promise<void> {
    await this.#shards.each(({ retention }) => retention.unfollow(batch, follower));
  }

  async forget(now: number, rules: RetentionRules): Promise<Forgotten> {
    const evaluations = Math.ceil(rules.evaluations / this.#shards.count);
    const forgotten = await this.#shards.each(({ retention }) =>
      retention.forget(now, { ...rules, evaluations }),
    );
    return {
      evaluations: forgotten.reduce((sum, each) => sum + each.evaluations, 0),
      // Each shard forgets its part of the same batches.
      batches: forgotten[0]?.batches ?? 0,
      isMore: forgotten.some(({ isMore }) => isMore),
    };
  }
}
