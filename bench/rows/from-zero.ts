import { Redis } from 'ioredis';
import { QUEUES, queuePrefix } from '../../queues/names.js';
import { evaluationsOf } from '../../src/compose/intake.js';
import { DEAD_AFTER_MS } from '../../workers/lifecycle.js';
import { deliveryFaults } from '../harness/exact.js';
import { median } from '../harness/figures.js';
import { type BenchFleet, startFleet } from '../harness/fleet.js';
import type { Place } from '../harness/place.js';
import { startProgram } from '../harness/program.js';
import type { Row } from '../harness/row.js';
import { expectedOf, makeWorkload, recordOf, type Workload } from '../harness/workload.js';

const FLEET = 'bench';
const CORRELATION = 'from-zero';
/** Milliseconds that a round's workers have to begin, and to be gone again. */
const PATIENCE_MS = 60_000;

type Fields = string[];
type Entries = [string, Fields][];

const workers = async ({ engine }: BenchFleet): Promise<number> => {
  const alive = await engine.store.roster.alive(Date.now() - DEAD_AFTER_MS);
  return alive.filter(({ role }) => role === 'worker').length;
};

async function untilZero(fleet: BenchFleet): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  while ((await workers(fleet)) > 0) {
    if (Date.now() > until) throw new Error('there were still workers a minute after the last check');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** What BullMQ tells of the queue of packs: who takes a job, and when, by the clock of Redis. */
class Pickups {
  readonly #client: Redis;
  readonly #stream = `${queuePrefix(FLEET)}:${QUEUES.pure}:events`;
  #from = '$';

  constructor(client: Redis) {
    this.#client = client;
  }

  /** What comes before this is not looked at. */
  async begin(): Promise<void> {
    const [newest] = (await this.#client.xrevrange(this.#stream, '+', '-', 'COUNT', 1)) as Entries;
    this.#from = newest?.[0] ?? '0';
  }

  /** Milliseconds since the epoch at which the first job was taken. */
  async first(): Promise<number> {
    const until = Date.now() + PATIENCE_MS;
    for (let cursor = this.#from; Date.now() < until; ) {
      const answer = await this.#client.xread('BLOCK', 1000, 'STREAMS', this.#stream, cursor);
      for (const [id, fields] of (answer?.[0]?.[1] ?? []) as Entries) {
        cursor = id;
        if (fields[fields.indexOf('event') + 1] === 'active') return Number(id.split('-')[0]);
      }
    }
    throw new Error('no worker had taken the check after a minute');
  }
}

async function rounds(place: Place, fleet: BenchFleet, client: Redis, { scenarioGiven, runs }: Workload) {
  const intake = evaluationsOf(fleet.engine);
  const pickups = new Pickups(client);
  const times: number[] = [];
  for (const [n, { id }] of runs.entries()) {
    await untilZero(fleet);
    await pickups.begin();
    const submitted = Date.now();
    await intake.submit({
      origin: '/bench',
      key: id,
      actor: 'bench',
      correlation: CORRELATION,
      scenario: { inline: scenarioGiven },
      run: { inline: recordOf(n) },
    });
    const ms = (await pickups.first()) - submitted;
    place.say(`${n === 0 ? 'warm-up' : `round ${n}`}: picked up after ${ms} ms`);
    if (n > 0) times.push(ms);
  }
  await untilZero(fleet);
  return times;
}

/** From zero workers: how soon the first check of an evaluation is taken by one that the autoscaler starts. */
export const fromZero: Row = {
  name: 'from-zero',
  lines: [
    {
      row: 'from zero workers',
      what: 'submit to the first check in a worker, with sluice autoscale and no worker, the slowest of ten',
      unit: 'ms',
      figure: 'ms',
      direction: 'at most',
      bar: 1000,
    },
  ],
  async measure(place) {
    const redis = await place.redis();
    const fleet = await startFleet(place, redis.url, FLEET, { executors: 0 });
    const where = ['--redis', redis.url, '--fleet', FLEET];
    await startProgram(place, 'autoscale', ...where, '--min', '0', '--max', '2', '--idle', '1s');
    const client = new Redis(redis.url);
    place.later(async () => client.disconnect());
    const workload = makeWorkload(1 + place.pick(10, 3, 1));
    const times = await rounds(place, fleet, client, workload);
    const expected = new Map(workload.runs.map((run) => [run.id, expectedOf(run.text)]));
    const faults = await deliveryFaults(fleet.engine.store.outbox, '', CORRELATION, expected);
    const slowest = Math.max(...times);
    return [
      {
        sluice: slowest,
        figure: slowest,
        rounds: times.map((sluice) => ({ sluice })),
        faults,
        notes: [
          `median ${median(times)} ms of ${times.length}; after each of them there were zero workers again`,
        ],
      },
    ];
  },
};
