import { LRUCache } from 'lru-cache';
import { shardOf, shardOfPlan } from '../../core/shards.js';
import type { Store } from '../../ports/store.js';

/** Ids of which it is remembered where they were found. */
const REMEMBERED = 10_000;

/**
 * The stores of a fleet's shards, the home of what it has once being the first. New work is spread over the
 * first `spread` of them. `former`: numbers over which it was spread before, as long as something of that
 * time is kept: what is not where it would be now is looked for where it was then.
 */
export class Shards {
  readonly all: readonly Store[];
  readonly home: Store;
  readonly spread: number;
  readonly former: readonly number[];
  readonly #found = new LRUCache<string, number>({ max: REMEMBERED });

  /** At least one, and as many as the largest of these numbers. */
  constructor(stores: readonly Store[], spread = stores.length, former: readonly number[] = []) {
    const [home] = stores;
    if (home === undefined) throw new Error('a fleet has at least one shard');
    this.all = stores;
    this.home = home;
    this.spread = spread;
    this.former = former;
  }

  get count(): number {
    return this.all.length;
  }

  at(shard: number): Store {
    const store = this.all[shard];
    if (store === undefined) throw new Error(`there is no shard ${shard}`);
    return store;
  }

  /** Of an evaluation or a chunk: where it stands, or would be accepted. */
  async of(id: string): Promise<Store> {
    const isIn = async ({ evaluations }: Store) => (await evaluations.locate([id]))[0] !== undefined;
    return this.at(await this.#find(`e ${id}`, (shards) => shardOf(id, shards), isIn));
  }

  /** An id that was kept no longer may come again, and elsewhere. */
  forget(id: string): void {
    this.#found.delete(`e ${id}`);
  }

  /** The shard of a plan: where it stands, or would be made. */
  async shardOfPlan(plan: string): Promise<number> {
    const isIn = async ({ plans }: Store) => (await plans.plan(plan)) !== undefined;
    return this.#find(`p ${plan}`, (shards) => shardOfPlan(plan, shards), isIn);
  }

  async ofPlan(plan: string): Promise<Store> {
    return this.at(await this.shardOfPlan(plan));
  }

  async #find(
    key: string,
    shardIn: (shards: number) => number,
    isIn: (store: Store) => Promise<boolean>,
  ): Promise<number> {
    const now = shardIn(this.spread);
    const earlier = [...new Set(this.former.map(shardIn))].filter((shard) => shard !== now);
    if (earlier.length === 0) return now;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    for (const shard of [now, ...earlier]) {
      if (!(await isIn(this.at(shard)))) continue;
      this.#found.set(key, shard);
      return shard;
    }
    return now;
  }

  /** Asks every shard. */
  each<T>(ask: (store: Store, shard: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.all.map(ask));
  }

  /** Asks each shard for its own of these evaluations or chunks, and answers in their order. */
  async gather<T>(
    ids: readonly string[],
    ask: (store: Store, own: string[]) => Promise<readonly (T | undefined)[]>,
  ): Promise<(T | undefined)[]> {
    const found: (T | undefined)[] = ids.map(() => undefined);
    for (const shards of [this.spread, ...this.former]) {
      const groups = new Map<number, number[]>();
      ids.forEach((id, n) => {
        const shard = shardOf(id, shards);
        if (found[n] === undefined) groups.set(shard, [...(groups.get(shard) ?? []), n]);
      });
      await Promise.all(
        [...groups].map(async ([shard, own]) => {
          const answers = await ask(
            this.at(shard),
            own.map((n) => ids[n] as string),
          );
          own.forEach((n, i) => {
            found[n] = answers[i];
          });
        }),
      );
    }
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
