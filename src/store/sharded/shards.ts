import { shardOf, shardOfPlan } from '../../core/shards.js';
import type { Store } from '../../ports/store.js';

/** The stores of a fleet's shards, the home of what it has once being the first. */
export class Shards {
  readonly all: readonly Store[];
  readonly home: Store;

  /** At least two. */
  constructor(stores: readonly Store[]) {
    const [home] = stores;
    if (home === undefined) throw new Error('a fleet has at least one shard');
    this.all = stores;
    this.home = home;
  }

  get count(): number {
    return this.all.length;
  }

  at(shard: number): Store {
    const store = this.all[shard];
    if (store === undefined) throw new Error(`there is no shard ${shard}`);
    return store;
  }

  /** Of an evaluation or a chunk. */
  of(id: string): Store {
    return this.at(shardOf(id, this.count));
  }

  ofPlan(plan: string): Store {
    return this.at(shardOfPlan(plan, this.count));
  }

  /** Asks every shard. */
  each<T>(ask: (store: Store, shard: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.all.map(ask));
  }

  /** Asks each shard for its own of these, and answers in their order. */
  async spread<T>(
    ids: readonly string[],
    ask: (store: Store, own: string[]) => Promise<readonly (T | undefined)[]>,
  ): Promise<(T | undefined)[]> {
    const groups = new Map<number, { ids: string[]; at: number[] }>();
    ids.forEach((id, at) => {
      const shard = shardOf(id, this.count);
      const group = groups.get(shard) ?? { ids: [], at: [] };
      group.ids.push(id);
      group.at.push(at);
      groups.set(shard, group);
    });
    const found: (T | undefined)[] = ids.map(() => undefined);
    await Promise.all(
      [...groups].map(async ([shard, group]) => {
        const answers = await ask(this.at(shard), group.ids);
        group.at.forEach((at, n) => {
          found[at] = answers[n];
        });
      }),
    );
    return found;
  }
}

/** Takes one of each list in turn, so that a long one holds up no other. */
export function inTurn<T>(lists: readonly (readonly T[])[], limit: number): T[] {
  const taken: T[] = [];
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let n = 0; n < longest && taken.length < limit; n += 1)
    for (const list of lists) if (n < list.length && taken.length < limit) taken.push(list[n] as T);
  return taken;
}
