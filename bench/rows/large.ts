import { Redis } from 'ioredis';
import { EvaluationReader } from '../../src/app/read.js';
import type { Submission } from '../../src/app/submit.js';
import { subjectOf } from '../../src/core/subject.js';
import { timeBatch } from '../harness/batch.js';
import { DeliveryCheck, eventsAfter } from '../harness/exact.js';
import { hundredths, rate, tenths } from '../harness/figures.js';
import { type BenchFleet, startFleet } from '../harness/fleet.js';
import { MemoryWatch, mib, peak } from '../harness/memory.js';
import type { Place } from '../harness/place.js';
import type { BenchRedis } from '../harness/redis.js';
import type { Line, Measured, Row } from '../harness/row.js';
import { scenarioFor } from '../harness/workload.js';

const COMMANDS = Array.from({ length: 60 }, (_, n) => `echo step ${n} of the work`);
const RUN = 'run-large';
const WARM_CHECKS = 100;
const IDLE_MS = 2000;

/** One rule in a hundred does not hold; two in three are required. */
const isHeld = (n: number): boolean => n % 100 !== 0;
const isRequired = (n: number): boolean => n % 3 !== 0;

const scenarioOf = (checks: number) =>
  scenarioFor(
    Array.from({ length: checks }, (_, n) => ({
      label: `rule ${n}`,
      validator: 'pattern_match',
      where: 'executed_commands',
      pattern: isHeld(n) ? `step ${n % 50}\\b` : `never said ${n}`,
      required: isRequired(n),
    })),
  );

const lines: readonly Line[] = [
  {
    row: 'large evaluation, time',
    what: 'one evaluation of 100,000 checks, and ten times the time of one of 10,000',
    unit: 'ms',
    figure: 'times as long',
    direction: 'at most',
    bar: 1.3,
  },
  {
    row: 'large evaluation, memory of the aggregator',
    what: 'the most that it had over one of 100,000 checks, and over one of 10,000',
    unit: 'MiB',
    figure: 'MiB more',
    direction: 'at most',
    bar: 100,
  },
  {
    row: 'large evaluation, longest wait for Redis',
    what: 'the longest wait for an answer to PING meanwhile, and on the idle fleet',
    unit: 'ms',
    figure: 'ms more',
    direction: 'at most',
    bar: 50,
  },
];

/** One decision and one result for each rule, as the patterns say. */
async function faultsOf({ engine }: BenchFleet, batch: string, checks: number): Promise<string[]> {
  const rules = Array.from({ length: checks }, (_, n) => n);
  const passed = rules.every((n) => isHeld(n) || !isRequired(n));
  const expected = { passed, score: rules.filter(isHeld).length };
  const check = new DeliveryCheck(batch, (run) => (run === RUN ? expected : undefined));
  for await (const json of eventsAfter(engine.store.outbox, '')) check.take(json);
  const faults = check.faults(1);
  for await (const { results } of new EvaluationReader(engine.store).inInputOrder(batch)) {
    const wrong = results.filter(({ passed }, n) => passed !== isHeld(n)).length;
    if (results.length !== checks) faults.push(`${results.length} of ${checks} results are there`);
    if (wrong > 0) faults.push(`${wrong} of ${checks} results are not what the pattern says`);
  }
  return faults;
}

async function judgeOne(fleet: BenchFleet, checks: number, batch: string): Promise<number> {
  const scenario = scenarioOf(checks);
  const subject = subjectOf({ id: RUN, tasks: [{ id: 'task-1', commands: COMMANDS }] });
  const submission: Submission = { index: 0, run: RUN, case: RUN, scenario: scenario.scenario, subject };
  return timeBatch(fleet.engine, scenario, batch, 1, [submission]);
}

/** The longest single command since it was last asked, as Redis itself tells it, in milliseconds. */
async function longestCommand(client: Redis): Promise<{ ms: number; name: string }> {
  const entries = (await client.call('SLOWLOG', 'GET', '-1')) as [number, number, number, string[]][];
  await client.call('SLOWLOG', 'RESET');
  const [longest] = entries.sort((a, b) => b[2] - a[2]);
  return { ms: tenths((longest?.[2] ?? 0) / 1000), name: longest?.[3][0] ?? 'none over 1 ms' };
}

/** A fresh fleet for each size, so that its aggregator's memory is this evaluation's. */
async function measureSize(place: Place, redis: BenchRedis, checks: number) {
  await redis.clear();
  const fleet = await startFleet(place, redis.url, 'bench', { aggregator: 'apart' });
  const client = new Redis(redis.url);
  await client.config('SET', 'slowlog-log-slower-than', '1000', 'slowlog-max-len', '100000');
  await judgeOne(fleet, WARM_CHECKS, 'warm');
  const pings = await place.child('pings', { port: redis.port });
  await pings.ask();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const idle = await pings.ask<number>();
  await longestCommand(client);
  const watch = new MemoryWatch({ aggregator: fleet.aggregator?.pid ?? 0 }, 20);
  const ms = await judgeOne(fleet, checks, 'judged');
  const { aggregator } = watch.stop();
  const longest = await pings.ask<number>();
  const command = await longestCommand(client);
  const faults = await faultsOf(fleet, 'judged', checks);
  client.disconnect();
  await pings.stop();
  await fleet.stop();
  place.say(
    `${checks} checks: ${Math.round(ms)} ms (${rate(checks, ms)} checks/s), aggregator ${mib(peak(aggregator))} MiB, ` +
      `PING ${tenths(longest)} ms (idle ${tenths(idle)}), longest command ${command.name} ${command.ms} ms`,
  );
  return { checks, ms, memory: peak(aggregator), idle, longest, command, faults };
}

/** One evaluation of very many checks. */
export const large: Row = {
  name: 'large',
  lines,
  async measure(place): Promise<Measured[]> {
    const most = place.pick(100_000, 20_000, 1000);
    const redis = await place.redis();
    const small = await measureSize(place, redis, most / 10);
    const big = await measureSize(place, redis, most);
    const faults = [...small.faults, ...big.faults];
    const more = hundredths((big.memory - small.memory) / 2 ** 20);
    const { command } = big;
    return [
      {
        sluice: Math.round(big.ms),
        peer: Math.round(10 * small.ms),
        figure: hundredths(big.ms / (10 * small.ms)),
        rounds: [{ sluice: Math.round(big.ms), peer: Math.round(10 * small.ms) }],
        faults,
        notes: [`${rate(big.checks, big.ms)} checks/s`],
      },
      {
        sluice: mib(big.memory),
        peer: mib(small.memory),
        figure: more,
        rounds: [{ sluice: mib(big.memory), peer: mib(small.memory) }],
        faults: [],
      },
      {
        sluice: tenths(big.longest),
        peer: tenths(big.idle),
        figure: tenths(big.longest - big.idle),
        rounds: [{ sluice: tenths(big.longest), peer: tenths(big.idle), command: command.ms }],
        faults: [],
        notes: [`the longest command by Redis' own clock: ${command.name}, ${command.ms} ms`],
      },
    ];
  },
};
