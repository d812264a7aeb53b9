import type { OutboxEvent } from '../../core/events.js';
import { wantsType } from '../../core/sink-filter.js';
import type { DeadLetter, DeadLetterStore, LetterFilter } from '../../ports/dead-letters.js';
import type { MemoryState } from './state.js';

function fits(filter: LetterFilter): (letter: DeadLetter) => boolean {
  const ofType = filter.types === undefined ? undefined : wantsType(filter.types);
  return (letter) =>
    (filter.direction ?? letter.direction) === letter.direction &&
    (filter.endpoint ?? letter.endpoint) === letter.endpoint &&
    (filter.code ?? letter.code) === letter.code &&
    letter.at >= (filter.since ?? 0) &&
    letter.at < (filter.before ?? Number.POSITIVE_INFINITY) &&
    (filter.ids?.includes(letter.id) ?? true) &&
    (ofType === undefined || (letter.type !== null && ofType(letter.type)));
}

const nameOf = ({ direction, endpoint, id }: Pick<DeadLetter, 'direction' | 'endpoint' | 'id'>): string =>
  `${direction}:${endpoint}:${id}`;

/** Dead letters in memory. */
export class MemoryLetters implements DeadLetterStore {
  readonly #state: MemoryState;
  readonly #letters = new Map<string, DeadLetter>();

  constructor(state: MemoryState) {
    this.#state = state;
  }

  async put(letter: DeadLetter, notice?: OutboxEvent): Promise<void> {
    const old = this.#letters.get(nameOf(letter));
    this.#letters.set(nameOf(letter), old === undefined ? letter : { ...letter, redriven: old.redriven + 1 });
    if (old === undefined && notice !== undefined) this.#state.append([notice]);
  }

  async list(
    filter: LetterFilter,
    cursor: string,
    limit: number,
  ): Promise<{ letters: DeadLetter[]; cursor: string | null }> {
    const space = cursor.indexOf(' ');
    const at = cursor === '' ? Number.NEGATIVE_INFINITY : Number(cursor.slice(0, space));
    const behind = cursor.slice(space + 1);
    const found = [...this.#letters]
      .filter(([name, letter]) => letter.at > at || (letter.at === at && name > behind))
      .filter(([, letter]) => fits(filter)(letter))
      .sort(([a, one], [b, other]) => one.at - other.at || (a < b ? -1 : 1));
    const page = found.slice(0, Math.max(1, limit));
    const last = page.at(-1);
    return {
      letters: page.map(([, letter]) => ({ ...letter })),
      cursor: last === undefined || page.length === found.length ? null : `${last[1].at} ${last[0]}`,
    };
  }

  async get(
    direction: DeadLetter['direction'],
    endpoint: string,
    ids: readonly string[],
  ): Promise<DeadLetter[]> {
    return ids.flatMap((id) => {
      const letter = this.#letters.get(nameOf({ direction, endpoint, id }));
      return letter === undefined ? [] : [{ ...letter }];
    });
  }

  async counts(): Promise<{ direction: DeadLetter['direction']; endpoint: string; count: number }[]> {
    const counts = new Map<string, { direction: DeadLetter['direction']; endpoint: string; count: number }>();
    for (const { direction, endpoint } of this.#letters.values()) {
      const place = `${direction}:${endpoint}`;
      counts.set(place, { direction, endpoint, count: (counts.get(place)?.count ?? 0) + 1 });
    }
    return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count);
  }

  async remove(
    direction: DeadLetter['direction'],
    endpoint: string,
    ids: readonly string[],
  ): Promise<number> {
    return ids.filter((id) => this.#letters.delete(nameOf({ direction, endpoint, id }))).length;
  }
}
