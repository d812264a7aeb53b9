/** `auto`: cheap pure checks share a job. `off`: one check a job (DESIGN 5.2). */
export type Packing = 'auto' | 'off';

/** Evaluations that travel in one flow when there are plenty. */
const MOST_EVALUATIONS = 64;
/** Bytes of subjects in one flow; a larger subject travels alone. */
const MOST_BYTES = 1024 * 1024;
/** Children of one flow: the EXEC that adds them blocks Redis some 25 microseconds each. */
export const MOST_CHILDREN = 300;
/** Checks that count as one child when a chunk is filled: so results of a chunk stay small as well. */
const CHECKS_A_CHILD = 20;
/** An evaluation with more pure checks than this is large: it fills a chunk, and travels in several packs. */
const LARGE_CHECKS = 2000;
/** Checks of a large evaluation that share a job. */
const PACK_CHECKS = 1000;
/** Flows that each worker should get at least, so that a small batch uses all of them. */
const FLOWS_PER_WORKER = 4;

/** The checks that travel in one job: a range of a chunk's evaluations, and of their checks. */
export interface Pack {
  /** Which executors may take it. */
  queue: 'pure' | 'runner';
  /** Positions of evaluations in the chunk: `from` to `to` - 1. */
  from: number;
  to: number;
  /** Positions of checks; only in packs of one evaluation. Absent: all that belong on this queue. */
  checks?: { from: number; to: number };
}

/** Where each check of an evaluation belongs, by position; `skip` needs no job. */
export type CheckPlace = 'pure' | 'runner' | 'skip';

export interface ChunkLimits {
  evaluations: number;
  bytes: number;
}

/** How large chunks may grow: small batches are spread over the workers. */
export function chunkLimits(total: number | undefined, workers: number): ChunkLimits {
  const fair =
    total === undefined ? MOST_EVALUATIONS : Math.ceil(total / (FLOWS_PER_WORKER * Math.max(1, workers)));
  return { evaluations: Math.min(MOST_EVALUATIONS, Math.max(1, fair)), bytes: MOST_BYTES };
}

/** Whether an evaluation needs a flow of its own, so that it holds up no other (DESIGN 5.2). */
export function travelsAlone(places: readonly CheckPlace[]): boolean {
  return places.includes('runner');
}

/** What the manifest says of a chunk whose one evaluation is decided a page at a time. */
export function largeMark(places: readonly (readonly CheckPlace[])[]): { isLarge?: true } {
  return places.length === 1 && (places[0]?.length ?? 0) > LARGE_CHECKS ? { isLarge: true } : {};
}

/** Room that an evaluation with these checks takes in its flow, of `MOST_CHILDREN`. */
export function childrenOf(places: readonly CheckPlace[], packing: Packing): number {
  if (packing === 'auto') {
    const checks = count(places, 'pure');
    return checks > LARGE_CHECKS ? MOST_CHILDREN : Math.max(1, Math.ceil(checks / CHECKS_A_CHILD));
  }
  return Math.min(MOST_CHILDREN, places.filter((place) => place !== 'skip').length);
}

function singles(
  position: number,
  places: readonly CheckPlace[],
  queue: 'pure' | 'runner',
  width: number,
): Pack[] {
  const packs: Pack[] = [];
  for (let from = 0; from < places.length; from += width) {
    const to = Math.min(places.length, from + width);
    if (!places.slice(from, to).includes(queue)) continue;
    packs.push({ queue, from: position, to: position + 1, checks: { from, to } });
  }
  return packs;
}

const count = (places: readonly CheckPlace[], queue: CheckPlace): number =>
  places.filter((place) => place === queue).length;

/** `least` checks a pack where there is room for it, else as few as fill the room. */
function fitted(
  position: number,
  places: readonly CheckPlace[],
  queue: 'pure' | 'runner',
  room: number,
  least = 1,
): Pack[] {
  const fits = Math.ceil((least === 1 ? count(places, queue) : places.length) / least) <= room;
  return singles(position, places, queue, fits ? least : Math.ceil(places.length / Math.max(1, room)));
}

/** How many checks of some evaluations belong on each queue. */
export function checksOf(places: readonly (readonly CheckPlace[])[]): { pure: number; runner: number } {
  const found = { pure: 0, runner: 0 };
  for (const checks of places) for (const place of checks) if (place !== 'skip') found[place] += 1;
  return found;
}

/** The jobs of a chunk, at most `MOST_CHILDREN`; `places` has one entry for each of its evaluations. */
export function planPacks(places: readonly (readonly CheckPlace[])[], packing: Packing): Pack[] {
  const packs: Pack[] = [];
  const isLarge = places.length === 1 && count(places[0] ?? [], 'pure') > LARGE_CHECKS;
  const isShared = packing === 'auto' && !isLarge;
  if (isShared && places.some((checks) => checks.includes('pure')))
    packs.push({ queue: 'pure', from: 0, to: places.length });
  places.forEach((checks, position) => {
    const room = MOST_CHILDREN - packs.length;
    const least = packing === 'auto' ? PACK_CHECKS : 1;
    const pure = isShared ? 0 : Math.ceil(count(checks, 'pure') / least);
    const ofRunner = fitted(position, checks, 'runner', Math.max(room - pure, Math.floor(room / 2)));
    if (pure > 0) packs.push(...fitted(position, checks, 'pure', room - ofRunner.length, least));
    packs.push(...ofRunner);
  });
  return packs;
}

const clipped = (pack: Pack, { from, to }: { from: number; to: number }): Pack =>
  pack.checks === undefined
    ? pack
    : { ...pack, checks: { from: Math.max(from, pack.checks.from), to: Math.min(to, pack.checks.to) } };

/**
 * Smaller packs to run in place of one whose worker died: one evaluation a job, then one check a
 * job (in several rounds when it has more than `MOST_CHILDREN`), so that a poisonous check fails alone
 * (DESIGN 5.3). Empty when it cannot be split.
 */
export function splitPack(pack: Pack, places: readonly (readonly CheckPlace[])[]): Pack[] {
  if (pack.to - pack.from > 1) {
    const positions = Array.from({ length: pack.to - pack.from }, (_, i) => pack.from + i);
    return positions
      .filter((position) => places[position]?.includes(pack.queue))
      .map((from) => ({ queue: pack.queue, from, to: from + 1 }));
  }
  const checks = places[pack.from] ?? [];
  const range = pack.checks ?? { from: 0, to: checks.length };
  const mine = checks.map((place, n) => (n >= range.from && n < range.to ? place : 'skip'));
  const own = count(mine, pack.queue);
  if (own < 2) return [];
  const width = own <= MOST_CHILDREN ? 1 : Math.ceil((range.to - range.from) / MOST_CHILDREN);
  return singles(pack.from, mine, pack.queue, width).map((one) => clipped(one, range));
}
