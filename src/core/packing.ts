import type { Scenario } from './scenario/model.js';

/** `auto`: cheap pure checks share a job. `off`: one check a job (DESIGN 5.2). */
export type Packing = 'auto' | 'off';

/** Evaluations that travel in one flow when there are plenty. */
const MOST_EVALUATIONS = 64;
/** Bytes of subjects in one flow; a larger subject travels alone. */
const MOST_BYTES = 1024 * 1024;
/** Children of one flow: the EXEC that adds them blocks Redis some 25 microseconds each. */
export const MOST_CHILDREN = 300;
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

/** Jobs that an evaluation with these checks adds to its flow. */
export function childrenOf(places: readonly CheckPlace[], packing: Packing): number {
  if (packing === 'auto') return 1;
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

/** The jobs of a chunk; `places` has one entry for each of its evaluations. */
export function planPacks(places: readonly (readonly CheckPlace[])[], packing: Packing): Pack[] {
  const packs: Pack[] = [];
  if (packing === 'auto') {
    if (places.some((checks) => checks.includes('pure')))
      packs.push({ queue: 'pure', from: 0, to: places.length });
  } else {
    places.forEach((checks, position) => {
      packs.push(...singles(position, checks, 'pure', Math.ceil(checks.length / MOST_CHILDREN)));
    });
  }
  places.forEach((checks, position) => {
    packs.push(...singles(position, checks, 'runner', 1));
  });
  return packs;
}

/**
 * Smaller packs to run in place of one whose worker died: one evaluation a job, then one check a
 * job, so that a poisonous check fails alone (DESIGN 5.3). Empty when it cannot be split.
 */
export function splitPack(pack: Pack, places: readonly (readonly CheckPlace[])[]): Pack[] {
  if (pack.to - pack.from > 1) {
    const positions = Array.from({ length: pack.to - pack.from }, (_, i) => pack.from + i);
    return positions
      .filter((position) => places[position]?.includes(pack.queue))
      .map((from) => ({ queue: pack.queue, from, to: from + 1 }));
  }
  const all = singles(pack.from, places[pack.from] ?? [], pack.queue, 1);
  const range = pack.checks;
  const own = range
    ? all.filter(({ checks }) => checks && checks.from >= range.from && checks.to <= range.to)
    : all;
  return own.length > 1 ? own : [];
}
