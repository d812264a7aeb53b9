import { MOST_SHARDS } from './shards.js';

/**
 * Positions in the outbox of a fleet. With one shard a position is the id of an entry of its stream,
 * `<ms>-<n>`. With several it is `<shard>/<id>` where an entry is meant, and `<shard>/<id>,<id>,…` where a
 * reader is to go on behind it: the shard of the entry, and the last id that was read of every shard.
 */
export interface Position {
  shard: number;
  /** By shard; one alone that of the entry's own shard. */
  ids: string[];
}

const START = '0-0';
const ID = /^\d{1,15}-\d{1,15}$/;

/** Negative, zero or positive, as for sorting, for two ids of a stream; '' stands before all. */
export function compareIds(a: string, b: string): number {
  const [aTime = '', aSequence = ''] = a.split('-');
  const [bTime = '', bSequence = ''] = b.split('-');
  return Number(aTime) - Number(bTime) || Number(aSequence) - Number(bSequence);
}

/** The parts of a position; undefined when it is none. */
function partsOf(position: string): Position | undefined {
  const slash = position.indexOf('/');
  const ids = position.slice(slash + 1).split(',');
  const shard = slash < 0 ? 0 : Number(position.slice(0, slash));
  const isShard = slash < 0 ? ids.length === 1 : /^\d{1,2}$/.test(position.slice(0, slash));
  if (!isShard || shard >= MOST_SHARDS || ids.length > MOST_SHARDS) return undefined;
  if (ids.length > 1 && shard >= ids.length) return undefined;
  return ids.every((id) => ID.test(id)) ? { shard, ids } : undefined;
}

/** Whether a text is a position, of however many shards. */
export const isPosition = (text: string): boolean => partsOf(text) !== undefined;

/** Where the entry at a position stands: its shard, and its id there. */
export function placeOf(position: string): { shard: number; id: string } {
  const { shard, ids } = partsOf(position) ?? { shard: 0, ids: [position] };
  return { shard, id: (ids.length > 1 ? ids[shard] : ids[0]) ?? START };
}

/** The last id that was read of each of so many shards; `''` is the beginning. */
export function cursorsOf(position: string, shards: number): string[] {
  const ids = Array.from({ length: shards }, () => '');
  if (position === '') return ids;
  const { shard, ids: given } = partsOf(position) ?? { shard: 0, ids: [position] };
  if (given.length === 1) {
    if (shard < shards) ids[shard] = given[0] ?? '';
    return ids;
  }
  return ids.map((_, n) => (given[n] === undefined || given[n] === START ? '' : given[n]));
}

/** The position of the entry of `shard` that stands last in `ids`; '' stands for the beginning. */
export function positionOf(shard: number, ids: readonly string[]): string {
  return `${shard}/${ids.map((id) => id || START).join(',')}`;
}

const shardsIn = (position: string): number => {
  const parts = partsOf(position);
  return parts === undefined ? 1 : Math.max(parts.shard + 1, parts.ids.length);
};

/** Whether who has read up to `cursor` has read all that one has read who stands at `position`. */
export function covers(cursor: string, position: string): boolean {
  if (!cursor.includes('/') && !position.includes('/')) return compareIds(cursor, position) >= 0;
  const shards = Math.max(shardsIn(cursor), shardsIn(position));
  const read = cursorsOf(cursor, shards);
  return cursorsOf(position, shards).every((id, n) => compareIds(read[n] ?? '', id) >= 0);
}

/** Whether who has read up to `cursor` has read the entry at `position`. */
export function hasRead(cursor: string, position: string): boolean {
  if (!cursor.includes('/') && !position.includes('/')) return compareIds(cursor, position) >= 0;
  const { shard, id } = placeOf(position);
  return compareIds(cursorsOf(cursor, Math.max(shardsIn(cursor), shard + 1))[shard] ?? '', id) >= 0;
}

/** The position of an entry for who has read up to `cursor` before: nothing that was read comes again. */
export function behind(cursor: string, position: string): string {
  if (cursor === '' || !position.includes(',')) return position;
  const shards = Math.max(shardsIn(cursor), shardsIn(position));
  const read = cursorsOf(cursor, shards);
  const ids = cursorsOf(position, shards).map((id, n) => {
    const own = read[n] ?? '';
    return compareIds(own, id) > 0 ? own : id;
  });
  return positionOf(placeOf(position).shard, ids);
}
