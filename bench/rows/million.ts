import type { Child } from '../harness/child-process.js';
import { hundredths, median, rate } from '../harness/figures.js';
import { type BenchFleet, startFleet } from '../harness/fleet.js';
import { OutboxFollower } from '../harness/follower.js';
import { MemoryWatch, mib, peak } from '../harness/memory.js';
import type { Place } from '../harness/place.js';
import type { BenchRedis } from '../harness/redis.js';
import type { Line, Measured, Row } from '../harness/row.js';
import { CHECKS } from '../harness/workload.js';

const BYTES = 1024;
/** Milliseconds after a batch for which what was decided is kept. */
const RETENTION_MS = 2000;
/** Milliseconds that Redis has to forget a batch after that. */
const FORGETS_MS = 60_000;
/** Names of the batches. */
const [WARM, JUDGED] = ['warm', 'judged'];

const settings = {
  outbox: { keep: '1s', keep_count: 1000 },
  sweeper: { every: '1s' },
};

const lines: readonly Line[] = [
  {
    row: 'a million checks, memory of processes',
    what: 'resident memory of producer, aggregator and worker in the last quarter, and in the second',
    unit: 'MiB',
    figure: 'times as much, of the worst process',
    direction: 'at most',
    bar: 1.15,
  },
  {
    row: 'a million checks, memory of Redis',
    what: 'memory of Redis when the batch is forgotten, and before it',
    unit: 'MiB',
    figure: 'MiB more',
    direction: 'at most',
    bar: 5,
  },
];

const MIB = 2 ** 20;

/** Waits until Redis has as many keys as it had, or for a time; MiB that it has in use then. */
async function forgotten(redis: BenchRedis, keys: number): Promise<{ mib: number; keys: number }> {
  const until = Date.now() + RETENTION_MS + FORGETS_MS;
  for (;;) {
    const left = await redis.keys();
    if (left <= keys || Date.now() > until)
      return { mib: hundredths((await redis.info('used_memory')) / MIB), keys: left };
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** The middle of a quarter of what was noted, 0 being the first. */
function quarter(noted: readonly number[], n: number): number {
  const size = noted.length / 4;
  return median(noted.slice(Math.floor(n * size), Math.ceil((n + 1) * size)));
}

/** Second and last quarter of each process, the worst first. */
function growth(noted: Record<string, number[]>) {
  return Object.entries(noted)
    .map(([name, values]) => ({ name, second: quarter(values, 1), last: quarter(values, 3) }))
    .map((each) => ({ ...each, times: hundredths(each.last / each.second) }))
    .sort((a, b) => b.times - a.times);
}

interface Actors {
  fleet: BenchFleet;
  producer: Child;
  aggregator: Child;
  executor: Child;
}

async function start(place: Place, redis: BenchRedis): Promise<Actors> {
  const fleet = await startFleet(place, redis.url, 'bench', { settings, aggregator: 'none' });
  const aggregator = await place.child('aggregator', { ...fleet.place, sweeps: true });
  const producer = await place.child('producer', fleet.place);
  return { fleet, producer, aggregator, executor: fleet.executors[0] as Child };
}

/** 100,000 runs of ten checks, read one by one; then Redis forgets them. */
export const million: Row = {
  name: 'million',
  lines,
  async measure(place): Promise<Measured[]> {
    const runs = place.pick(100_000, 20_000, 300);
    const redis = await place.redis();
    const { fleet, producer, aggregator, executor } = await start(place, redis);
    const follower = new OutboxFollower(fleet.engine.store.outbox);
    await follower.begin();
    const order = { bytes: BYTES, retentionMs: RETENTION_MS };
    await producer.ask({ ...order, id: WARM, runs: Math.min(runs, 1000) });
    const keysAtFirst = await settledKeys(redis);
    const before = await forgotten(redis, keysAtFirst);
    const watch = new MemoryWatch({
      producer: producer.pid,
      aggregator: aggregator.pid,
      worker: executor.pid,
      redis: redis.pid,
    });
    const ms = await producer.ask<number>({ ...order, id: JUDGED, runs });
    const { redis: ofRedis, ...noted } = watch.stop();
    const after = await forgotten(redis, before.keys);
    await follower.end();
    const faults = follower.faults(JUDGED, runs, BYTES);
    const processes = growth(noted);
    const worst = processes[0] ?? { name: 'none', second: 0, last: 0, times: Number.NaN };
    const each = processes.map(({ name, second, last }) => `${name} ${mib(second)}, then ${mib(last)}`);
    place.say(`${rate(runs * CHECKS, ms)} checks/s; MiB: ${each.join('; ')}`);
    place.say(`Redis: ${before.mib} MiB, at most ${mib(peak(ofRedis))}, then ${after.mib}`);
    return [
      {
        sluice: mib(worst.last),
        peer: mib(worst.second),
        figure: worst.times,
        rounds: processes.map(({ second, last, times }) => ({ sluice: mib(last), peer: mib(second), times })),
        faults,
        notes: [
          `MiB in the second and in the last quarter: ${each.join('; ')}; ${rate(runs * CHECKS, ms)} checks/s`,
        ],
      },
      {
        sluice: after.mib,
        peer: before.mib,
        figure: hundredths(after.mib - before.mib),
        rounds: [{ sluice: after.mib, peer: before.mib, keys: after.keys, keysBefore: before.keys }],
        faults: [],
        notes: [
          `at most ${mib(peak(ofRedis))} MiB meanwhile; ${after.keys} keys are left, ${before.keys} were there`,
        ],
      },
    ];
  },
};

/** Keys that are there for good: as many as there are when their number no longer falls. */
async function settledKeys(redis: BenchRedis): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  let since = Date.now();
  const until = Date.now() + RETENTION_MS + FORGETS_MS;
  while (Date.now() < until && Date.now() - since < 2 * RETENTION_MS) {
    const keys = await redis.keys();
    if (keys < least) [least, since] = [keys, Date.now()];
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return least;
}
