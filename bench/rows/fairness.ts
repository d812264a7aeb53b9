import { judge } from '../harness/batch.js';
import type { Child } from '../harness/child-process.js';
import { DeliveryCheck, eventsAfter } from '../harness/exact.js';
import { hundredths, median } from '../harness/figures.js';
import { type BenchFleet, startFleet } from '../harness/fleet.js';
import type { Place } from '../harness/place.js';
import type { Row } from '../harness/row.js';
import { CHECKS, expectedOf, makeWorkload, runOf, type Workload } from '../harness/workload.js';

/** Runs of the small batch: 500 checks. */
const SMALL = 50;
const BYTES = 4096;
/** Share of the large batch that is decided when the small ones begin. */
const BEGUN = 0.05;
const BIG = 'large';

/** Judges small batches one after the other; milliseconds of each. */
async function smallOnes(fleet: BenchFleet, workload: Workload, count: number, name: string) {
  const times: number[] = [];
  const faults: string[] = [];
  for (let i = 0; i < count; i++) {
    const report = await judge(fleet.engine, workload, SMALL, `${name}-${i}`);
    times.push(report.ms);
    faults.push(...report.faults);
  }
  return { times, faults };
}

/** Resolves when the large batch is under way. */
async function begun({ engine }: BenchFleet, runs: number): Promise<void> {
  for (;;) {
    const batch = await engine.store.batches.batch(BIG);
    if ((batch?.decided ?? 0) >= BEGUN * runs) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function faultsOfLarge({ engine }: BenchFleet, runs: number): Promise<string[]> {
  const check = new DeliveryCheck(BIG, (run) => expectedOf(runOf(Number(run.slice(4)), BYTES).text));
  for await (const json of eventsAfter(engine.store.outbox, '')) check.take(json);
  return check.faults(runs);
}

async function start(place: Place) {
  const redis = await place.redis();
  const fleet = await startFleet(place, redis.url, 'bench', { aggregator: 'apart' });
  const producer: Child = await place.child('producer', fleet.place);
  return { fleet, producer };
}

/** A batch of 500 checks while another of 500,000 is judged, against the same batch alone. */
export const fairness: Row = {
  name: 'fairness',
  lines: [
    {
      row: 'small beside large batch',
      what: 'a batch of 500 checks while one of 500,000 is judged, and the same alone',
      unit: 'ms',
      figure: 'times as long',
      direction: 'at most',
      bar: 2,
    },
  ],
  async measure(place) {
    const runs = place.pick(50_000, 20_000, 1000);
    const times = place.pick(5, 3, 1);
    const workload = makeWorkload(SMALL, BYTES);
    const { fleet, producer } = await start(place);
    await producer.ask({ id: 'warm', runs: place.pick(2000, 1500, 50), bytes: BYTES });
    await smallOnes(fleet, workload, 3, 'warm-small');
    const alone = await smallOnes(fleet, workload, times, 'alone');
    let largeIsOver = false;
    const large = producer.ask<number>({ id: BIG, runs, bytes: BYTES }).finally(() => {
      largeIsOver = true;
    });
    await begun(fleet, runs);
    const beside = await smallOnes(fleet, workload, times, 'beside');
    const wasBeside = !largeIsOver;
    const largeMs = Math.round(await large);
    const faults = [...alone.faults, ...beside.faults, ...(await faultsOfLarge(fleet, runs))];
    const [sluice, peer] = [Math.round(median(beside.times)), Math.round(median(alone.times))];
    place.say(`beside: ${sluice} ms, alone: ${peer} ms; the large one took ${largeMs} ms`);
    return [
      {
        sluice,
        peer,
        figure: hundredths(median(beside.times) / median(alone.times)),
        rounds: beside.times.map((ms, i) => ({
          sluice: Math.round(ms),
          peer: Math.round(alone.times[i] ?? 0),
        })),
        faults,
        ...(wasBeside ? {} : { invalid: 'the large batch was over before the small ones were' }),
        notes: [`the large one: ${runs * CHECKS} checks in ${largeMs} ms`],
      },
    ];
  },
};
