import { compareIds } from '../../core/positions.js';
import type { Forgotten, RetentionRules, RetentionStore } from '../../ports/retention.js';
import type { RedisContext } from './context.js';

/** Evaluations that one step takes away at the most, give or take a chunk. */
const STEP = 500;
/** Batches that one step looks at. */
const BATCHES = 50;
/** Chunks, or entries of a log, that one command reads. */
const PAGE = 50;

/**
 * Milliseconds that what belongs to a batch outlives its retention where no sweeper comes by: only then does
 * it go by itself.
 */
export const UNSWEPT_MS = 30 * 86_400_000;

type LogEntry = [id: string, fields: string[]];

/** The earlier of two places in a log; '' is before all. */
const earlier = (a: string, b: string): string => (compareIds(a, b) <= 0 ? a : b);

/** Retention of batches in Redis: keys go in small steps, a chunk with all that belongs to it in each. */
export class RedisRetention implements RetentionStore {
  readonly #context: RedisContext;
  /** Where looking through the completed batches goes on. */
  #looked = 0;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  #key(batch: string, part: string): string {
    return `${this.#context.prefix}batch:${batch}${part}`;
  }

  async follow(batch: string, follower: string, cursor: string, now: number, forMs: number): Promise<void> {
    const key = this.#key(batch, ':followers');
    const { client } = this.#context;
    await client
      .multi()
      .hset(key, follower, `${now + forMs}:${cursor}`)
      .pexpire(key, forMs)
      .exec();
  }

  async unfollow(batch: string, follower: string): Promise<void> {
    await this.#context.client.hdel(this.#key(batch, ':followers'), follower);
  }

  /** Up to where everybody has read it: '' for not at all, undefined when nobody reads it. */
  async #readTo(batch: string, now: number): Promise<string | undefined> {
    const marks = await this.#context.client.hvals(this.#key(batch, ':followers'));
    let to: string | undefined;
    for (const mark of marks) {
      const at = mark.indexOf(':');
      if (Number(mark.slice(0, at)) <= now) continue;
      const cursor = mark.slice(at + 1);
      to = to === undefined ? cursor : earlier(to, cursor);
    }
    return to;
  }

  async forget(now: number, rules: RetentionRules): Promise<Forgotten> {
    const forgotten: Forgotten = { evaluations: 0, batches: 0, isMore: false };
    for (const batch of await this.#overdue(now, rules.batches)) {
      if (forgotten.evaluations >= STEP) break;
      if ((await this.#readTo(batch, now)) === undefined) await this.#dropBatch(batch, forgotten);
    }
    for (const { batch, excess } of await this.#overfull(rules.evaluations)) {
      if (forgotten.evaluations >= STEP) break;
      await this.#thin(batch, excess, await this.#readTo(batch, now), forgotten);
    }
    forgotten.isMore = forgotten.evaluations >= STEP;
    return forgotten;
  }

  /** Completed batches whose time is over, and those nearest to it that are too many. */
  async #overdue(now: number, kept: number): Promise<string[]> {
    const { client, prefix } = this.#context;
    const ended = `${prefix}batches:ended`;
    const over = await client.zrangebyscore(ended, '-inf', now, 'LIMIT', 0, BATCHES);
    const excess = (await client.zcard(ended)) - kept;
    const first = excess > 0 ? await client.zrange(ended, '0', `${Math.min(excess, BATCHES) - 1}`) : [];
    return [...new Set([...over, ...first])];
  }

  async #dropBatch(batch: string, forgotten: Forgotten): Promise<void> {
    const { client, scripts, prefix } = this.#context;
    while (forgotten.evaluations < STEP) {
      const chunks = await client.zrange(this.#key(batch, ':chunks'), '0', `${PAGE - 1}`);
      if (chunks.length === 0) {
        forgotten.batches += Number(await scripts['drop-batch'](prefix, batch));
        return;
      }
      for (const chunk of chunks) {
        if (forgotten.evaluations >= STEP) return;
        const gone = Number(await scripts['drop-chunk'](prefix, chunk, batch, '', 0));
        if (gone < 0) return;
        forgotten.evaluations += gone;
      }
    }
  }

  /** Batches with more decided evaluations than are kept: the open ones, and some of the others each time. */
  async #overfull(kept: number): Promise<{ batch: string; excess: number }[]> {
    const { client, prefix } = this.#context;
    const open = await client.zrange(`${prefix}batches`, '0', '-1');
    const ended = await client.zrange(
      `${prefix}batches:ended`,
      `${this.#looked}`,
      `${this.#looked + BATCHES - 1}`,
    );
    this.#looked = ended.length < BATCHES ? 0 : this.#looked + BATCHES;
    const batches = [...open, ...ended];
    const counts = await Promise.all(batches.map((id) => client.hmget(this.#key(id, ''), 'decided', 'gone')));
    return batches.flatMap((batch, i) => {
      const [decided, gone] = counts[i] ?? [];
      const excess = Number(decided ?? 0) - Number(gone ?? 0) - kept;
      return excess > 0 ? [{ batch, excess }] : [];
    });
  }

  /** Takes away what was decided first, up to where everybody has read. */
  async #thin(
    batch: string,
    excess: number,
    readTo: string | undefined,
    forgotten: Forgotten,
  ): Promise<void> {
    if (readTo === '') return;
    const { client, scripts, prefix } = this.#context;
    let left = excess;
    while (left > 0 && forgotten.evaluations < STEP) {
      const from = (await client.hget(this.#key(batch, ''), 'gone_to')) ?? '';
      const entries = (await client.xrange(
        this.#key(batch, ':log'),
        from === '' ? '-' : `(${from}`,
        readTo ?? '+',
        'COUNT',
        PAGE,
      )) as LogEntry[];
      if (entries.length === 0) return;
      for (const [id, fields] of entries) {
        const [name, chunk = '', , positions = ''] = fields;
        if (name !== 'c') return;
        const count = positions.split(',').length;
        if (left <= 0 || count > left || forgotten.evaluations >= STEP) return;
        const gone = Number(await scripts['drop-chunk'](prefix, chunk, batch, id, count));
        if (gone < 0) return;
        left -= count;
        forgotten.evaluations += gone;
      }
    }
  }
}
