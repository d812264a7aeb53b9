import type { OutboxEvent } from '../../core/events.js';
import { wantsType } from '../../core/sink-filter.js';
import type { DeadLetter, DeadLetterStore, LetterFilter } from '../../ports/dead-letters.js';
import type { RedisContext } from './context.js';

/** Letters looked at in one step of a listing, by their names alone. */
const LOOK = 500;
/** Letters removed in one script. */
const REMOVE = 500;

/** A letter by its name: `out:hook:8f94…`, as it stands among all by time. */
interface Found {
  member: string;
  at: number;
  /** Direction and name: `out:hook`. */
  place: string;
  id: string;
}

function foundOf(member: string, at: string): Found {
  const second = member.indexOf(':', member.indexOf(':') + 1);
  return { member, at: Number(at), place: member.slice(0, second), id: member.slice(second + 1) };
}

function placeOf(direction: DeadLetter['direction'], endpoint: string): string {
  return `${direction}:${endpoint}`;
}

/** `<redriven> <JSON>` as it is stored. */
function letterOf(stored: string): DeadLetter {
  const space = stored.indexOf(' ');
  const letter = JSON.parse(stored.slice(space + 1)) as Omit<DeadLetter, 'redriven'>;
  return { ...letter, redriven: Number(stored.slice(0, space)) };
}

/** What can be told of a letter without reading it. */
function mayFit(
  { place, id, at }: Found,
  filter: LetterFilter,
  ids: ReadonlySet<string> | undefined,
): boolean {
  const colon = place.indexOf(':');
  if (filter.direction !== undefined && place.slice(0, colon) !== filter.direction) return false;
  if (filter.endpoint !== undefined && place.slice(colon + 1) !== filter.endpoint) return false;
  if (filter.since !== undefined && at < filter.since) return false;
  return ids === undefined || ids.has(id);
}

/** What has to be read for it. */
function lettersThatFit(filter: LetterFilter): (letter: DeadLetter) => boolean {
  const ofType = filter.types === undefined ? undefined : wantsType(filter.types);
  return ({ code, type }) =>
    (filter.code === undefined || filter.code === code) &&
    (ofType === undefined || (type !== null && ofType(type)));
}

/**
 * Dead letters: a hash for each endpoint, and all of them in one sorted set by time. Names of endpoints
 * hold no colon.
 */
export class RedisLetters implements DeadLetterStore {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  #hash(place: string): string {
    return `${this.#context.prefix}letters:${place}`;
  }

  async put({ redriven, ...letter }: DeadLetter, notice?: OutboxEvent): Promise<void> {
    await this.#context.scripts['put-letter'](
      this.#context.prefix,
      placeOf(letter.direction, letter.endpoint),
      letter.id,
      letter.at,
      JSON.stringify(letter),
      redriven,
      notice?.json ?? '',
    );
  }

  async list(
    filter: LetterFilter,
    cursor: string,
    limit: number,
  ): Promise<{ letters: DeadLetter[]; cursor: string | null }> {
    const { scripts, prefix } = this.#context;
    const space = cursor.indexOf(' ');
    const behind = cursor === '' ? ['', ''] : [cursor.slice(0, space), cursor.slice(space + 1)];
    const since = filter.since ?? '-inf';
    const flat = (await scripts['find-letters'](prefix, since, LOOK, ...behind)) as string[];
    const all: Found[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) all.push(foundOf(flat[i] ?? '', flat[i + 1] ?? ''));
    const inTime = all.filter(({ at }) => filter.before === undefined || at < filter.before);
    const ids = filter.ids === undefined ? undefined : new Set(filter.ids);
    const candidates = inTime.filter((found) => mayFit(found, filter, ids));
    const { letters, last } = await this.#read(candidates, lettersThatFit(filter), Math.max(1, limit));
    const isEnd = all.length < LOOK || inTime.length < all.length;
    const stopped = last ?? (isEnd ? undefined : inTime.at(-1));
    return { letters, cursor: stopped === undefined ? null : `${stopped.at} ${stopped.member}` };
  }

  /** Reads candidates until `limit` fit; `last` is where it stopped when there are more. */
  async #read(
    candidates: readonly Found[],
    fits: (letter: DeadLetter) => boolean,
    limit: number,
  ): Promise<{ letters: DeadLetter[]; last?: Found }> {
    const letters: DeadLetter[] = [];
    for (let from = 0; from < candidates.length; from += limit) {
      const page = candidates.slice(from, from + limit);
      const read = await Promise.all(
        page.map(({ place, id }) => this.#context.client.hget(this.#hash(place), id)),
      );
      for (const [n, stored] of read.entries()) {
        if (stored === null) continue;
        const letter = letterOf(stored);
        if (fits(letter)) letters.push(letter);
        if (letters.length < limit) continue;
        const last = page[n];
        const hasMore = from + n + 1 < candidates.length;
        return hasMore && last !== undefined ? { letters, last } : { letters };
      }
    }
    return { letters };
  }

  async get(
    direction: DeadLetter['direction'],
    endpoint: string,
    ids: readonly string[],
  ): Promise<DeadLetter[]> {
    if (ids.length === 0) return [];
    const found = await this.#context.client.hmget(this.#hash(placeOf(direction, endpoint)), ...ids);
    return found.flatMap((stored) => (stored === null ? [] : [letterOf(stored)]));
  }

  async counts(): Promise<{ direction: DeadLetter['direction']; endpoint: string; count: number }[]> {
    const { client, prefix } = this.#context;
    const places = (await client.smembers(`${prefix}letters:of`)).sort();
    const counts = await Promise.all(places.map((place) => client.hlen(this.#hash(place))));
    return places.flatMap((place, n) => {
      const colon = place.indexOf(':');
      const direction = place.slice(0, colon) as DeadLetter['direction'];
      const count = counts[n] ?? 0;
      return count === 0 ? [] : [{ direction, endpoint: place.slice(colon + 1), count }];
    });
  }

  async remove(
    direction: DeadLetter['direction'],
    endpoint: string,
    ids: readonly string[],
  ): Promise<number> {
    const { scripts, prefix } = this.#context;
    let removed = 0;
    for (let from = 0; from < ids.length; from += REMOVE) {
      const some = ids.slice(from, from + REMOVE);
      removed += Number(await scripts['remove-letters'](prefix, placeOf(direction, endpoint), ...some));
    }
    return removed;
  }
}
