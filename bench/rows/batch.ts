import type { Packing } from '../../src/core/packing.js';
import { judge } from '../harness/batch.js';
import { hundredths, median, rate } from '../harness/figures.js';
import { startFleet } from '../harness/fleet.js';
import type { Place } from '../harness/place.js';
import type { BenchRedis } from '../harness/redis.js';
import type { Measured, Row } from '../harness/row.js';
import { CHECKS, makeWorkload, type Workload } from '../harness/workload.js';
import { RawFlows } from '../peers/raw-flows.js';

/** Raw flows slower than this make the row INVALID, in checks a second (DESIGN 9). */
const PEER_AT_LEAST = 2500;
/** Batches of the peer in one round, of which the best counts: noise must not make it look slow. */
const PEER_BATCHES = 2;
/** Where the rate of the batch is kept for the peers that are measured against it. */
const FOUND = 'batch checks/s';

interface Side {
  /** Checks a second. */
  rate: number;
  faults: string[];
}

/** One batch by a fresh fleet that is warm. */
export async function bySluice(
  place: Place,
  redis: BenchRedis,
  workload: Workload,
  runs: number,
  packing: Packing,
): Promise<Side> {
  await redis.clear();
  const fleet = await startFleet(place, redis.url, 'bench');
  const warm = place.pick(2000, 1500, 50);
  await judge(fleet.engine, workload, Math.min(runs, warm), 'warm', { packing });
  const { ms, faults } = await judge(fleet.engine, workload, runs, 'judged', { packing });
  await fleet.stop();
  return { rate: rate(runs * CHECKS, ms), faults };
}

/** The best of a few batches by raw flows. */
async function byRawFlows(place: Place, redis: BenchRedis, workload: Workload, count: number): Promise<Side> {
  await redis.clear();
  const flows = await RawFlows.start(place, redis.url);
  const runs = workload.runs.slice(0, count);
  await flows.judge(runs.slice(0, 500), 'warm');
  const sides: Side[] = [];
  for (let i = 0; i < PEER_BATCHES; i++) {
    const { ms, faults } = await flows.judge(runs, `judged-${i}`);
    sides.push({ rate: rate(count * CHECKS, ms), faults });
  }
  await flows.close();
  return { rate: Math.max(...sides.map((side) => side.rate)), faults: sides.flatMap((side) => side.faults) };
}

/** The rate of a batch with packs: as it was measured in this run of the bench, else by one batch now. */
export async function batchRate(place: Place): Promise<Side> {
  const found = place.found.get(FOUND);
  if (found !== undefined) return { rate: found, faults: [] };
  const runs = place.pick(20_000, 5000, 200);
  const side = await bySluice(place, await place.redis(), makeWorkload(runs), runs, 'auto');
  place.found.set(FOUND, side.rate);
  return side;
}

async function measure(place: Place, packing: Packing, runs: number): Promise<Measured[]> {
  const peerRuns = place.pick(2000, 1000, 50);
  const workload = makeWorkload(Math.max(runs, peerRuns));
  const redis = await place.redis();
  const rounds: { sluice: number; peer: number }[] = [];
  const faults: string[] = [];
  for (let i = 1; i <= place.pick(3, 1, 1); i++) {
    const ours = await bySluice(place, redis, workload, runs, packing);
    const theirs = await byRawFlows(place, redis, workload, peerRuns);
    faults.push(...ours.faults, ...theirs.faults);
    rounds.push({ sluice: ours.rate, peer: theirs.rate });
    place.say(`round ${i}: ${ours.rate} checks/s, raw flows ${theirs.rate}`);
  }
  const sluice = median(rounds.map((round) => round.sluice));
  const peer = Math.max(...rounds.map((round) => round.peer));
  if (packing === 'auto') place.found.set(FOUND, sluice);
  const slow = `the peer made ${peer} checks/s: below ${PEER_AT_LEAST} this machine is too busy to compare`;
  return [
    {
      sluice,
      peer,
      figure: hundredths(sluice / peer),
      rounds,
      faults,
      ...(peer < PEER_AT_LEAST ? { invalid: slow } : {}),
    },
  ];
}

const line = { unit: 'checks/s', figure: 'times as many', direction: 'at least' } as const;

/** One executor process against raw BullMQ flows with one job a check and the same text by reference. */
export const batch: Row = {
  name: 'batch',
  lines: [
    { ...line, row: 'batch', what: '20,000 runs, ten patterns each on 4 KiB, against raw flows', bar: 20 },
  ],
  measure: (place) => measure(place, 'auto', place.pick(20_000, 5000, 200)),
};

/** The same with one job a check, manifest, results, decision and event included. */
export const packingOff: Row = {
  name: 'packing-off',
  lines: [{ ...line, row: 'packing off', what: 'the same with one job a check', bar: 0.8 }],
  measure: (place) => measure(place, 'off', place.pick(2000, 1000, 50)),
};
