import { availableParallelism } from 'node:os';
import { EXECUTOR_FLAGS } from '../../workers/executor.js';
import type { Child } from '../harness/child-process.js';
import { hundredths, rate } from '../harness/figures.js';
import { startFleet } from '../harness/fleet.js';
import type { Place } from '../harness/place.js';
import type { BenchRedis } from '../harness/redis.js';
import type { Row } from '../harness/row.js';
import { SERVER, WaitingChecks } from '../harness/waiting-checks.js';

/** Milliseconds that each check waits, and checks that each worker has in hand. */
const [CALL_MS, AT_ONCE] = [50, 10];
/** Checks of one plan. */
const CHECKS = 100;

const settings = {
  worker: { runner_concurrency: AT_ONCE },
  // Never called: the bench answers in its place, so that the machine measures workers and no server.
  mcp_servers: { [SERVER]: { url: 'http://127.0.0.1:9/mcp' } },
};

/** Milliseconds of processor time that all processes of the fleet have taken so far, Redis included. */
async function processorMs(redis: BenchRedis, children: readonly Child[]): Promise<number> {
  const asked = await Promise.all(children.map((child) => child.ask<NodeJS.CpuUsage>()));
  const own = [...asked, process.cpuUsage()].reduce((sum, { user, system }) => sum + user + system, 0);
  const ofRedis = (await redis.info('used_cpu_user')) + (await redis.info('used_cpu_sys'));
  return own / 1000 + 1000 * ofRedis;
}

/** Checks a second by so many worker processes that are warm. */
async function measureWith(place: Place, redis: BenchRedis, workers: number, plans: number) {
  await redis.clear();
  const fleet = await startFleet(place, redis.url, 'bench', { settings, executors: 0, aggregator: 'apart' });
  const checks = await WaitingChecks.attach(fleet, CHECKS);
  const children: Child[] = await Promise.all(
    Array.from({ length: workers }, () =>
      place.child('executor', { ...fleet.place, callMs: CALL_MS }, { flags: EXECUTOR_FLAGS }),
    ),
  );
  const names = Array.from({ length: plans }, (_, n) => `plan-${n}`);
  const warm = Array.from({ length: workers }, (_, n) => `warm-${n}`);
  await checks.judge(warm);
  const all = fleet.aggregator === undefined ? children : [...children, fleet.aggregator];
  let before = 0;
  const ms = await checks.judge(names, async () => {
    before = await processorMs(redis, all);
  });
  const processor = (await processorMs(redis, all)) - before;
  const faults = await checks.faults([...warm, ...names]);
  await Promise.all(children.map((child) => child.stop()));
  await fleet.stop();
  const perCheck = hundredths(processor / (plans * CHECKS));
  return { workers, rate: rate(plans * CHECKS, ms), perCheck, faults };
}

/** Checks that wait for a service elsewhere: more workers are as many times as fast. */
export const waiting: Row = {
  name: 'waiting',
  lines: [
    {
      row: 'waiting checks',
      what: `checks that wait ${CALL_MS} ms, ${AT_ONCE} at a time in each worker: 1, 2, 4 and 8 workers`,
      unit: 'checks/s',
      figure: 'of linear, at the worst',
      direction: 'at least',
      bar: 0.9,
    },
  ],
  async measure(place) {
    const redis = await place.redis();
    const plansEach = place.pick(10, 6, 1);
    const measured: Awaited<ReturnType<typeof measureWith>>[] = [];
    for (const workers of place.pick([1, 2, 4, 8], [1, 2, 4, 8], [1, 2])) {
      const found = await measureWith(place, redis, workers, plansEach * workers);
      measured.push(found);
      place.say(`${workers} workers: ${found.rate} checks/s, ${found.perCheck} ms of processor time each`);
    }
    const alone = measured[0]?.rate ?? 0;
    const rounds = measured.map(({ workers, rate: sluice, perCheck }) => ({
      workers,
      perCheck,
      sluice,
      peer: workers * alone,
      linear: hundredths(sluice / (workers * alone)),
    }));
    const most = rounds.at(-1);
    const each = rounds.map(({ workers, linear }) => `${workers}: ${linear}`).join(', ');
    const limit = Math.round((1000 * availableParallelism()) / (most?.perCheck ?? Number.NaN));
    const ideal = (AT_ONCE * 1000) / CALL_MS;
    return [
      {
        sluice: most?.sluice ?? 0,
        peer: most?.peer ?? 0,
        figure: Math.min(...rounds.map(({ linear }) => linear)),
        rounds,
        faults: measured.flatMap(({ faults }) => faults),
        notes: [
          `of linear by workers: ${each}; one worker has ${hundredths(alone / ideal)} of what waiting allows`,
          `a check takes ${most?.perCheck} ms of processor time in all, so that ${availableParallelism()} cores make ${limit} a second at most`,
        ],
      },
    ];
  },
};
