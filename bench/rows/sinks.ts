import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { openSinkReader, startDispatcher } from '../../workers/dispatcher.js';
import { type BatchReport, judge } from '../harness/batch.js';
import { eventsAfter } from '../harness/exact.js';
import { hundredths, median } from '../harness/figures.js';
import { type BenchFleet, configOf, startFleet } from '../harness/fleet.js';
import type { Place } from '../harness/place.js';
import { type BenchRedis, freePort } from '../harness/redis.js';
import type { Row } from '../harness/row.js';
import { makeWorkload, type Workload } from '../harness/workload.js';

/** Milliseconds until the events of a batch must have arrived at the sink that is back. */
const ARRIVAL_MS = 120_000;

/** A consumer that is not there until it is started. */
class Consumer {
  readonly port: number;
  readonly ids = new Set<string>();
  #server: Server | undefined;

  constructor(port: number) {
    this.port = port;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const events = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: string }[];
        for (const { id } of events) this.ids.add(id);
        response.writeHead(204).end();
      });
    });
    this.#server = server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
  }

  async stop(): Promise<void> {
    if (this.#server === undefined) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
    this.#server = undefined;
  }
}

/** The dispatcher runs beside the producer and the aggregator, as under `sluice up`. */
async function startSink(place: Place, fleet: BenchFleet, port: number): Promise<() => Promise<void>> {
  const { delivery, sinks } = configOf({
    delivery: { longest_wait: '2s' },
    sinks: [
      {
        name: 'dead',
        kind: 'webhook',
        target: `http://127.0.0.1:${port}/`,
        options: { mode: 'batched', unsigned: true, allow_private: true },
      },
    ],
  });
  const { engine } = fleet;
  const [setting] = sinks;
  if (setting === undefined) throw new Error('no sink');
  const reader = await openSinkReader(setting, {
    redisUrl: engine.redisUrl,
    fleet: engine.config.fleet,
    config: delivery,
    onError: () => {},
  });
  await engine.store.outbox.openReader(reader.name, '');
  const dispatcher = await startDispatcher(engine, [reader]);
  let stopped = false;
  const stop = async () => {
    if (!stopped) await dispatcher.stop();
    stopped = true;
  };
  place.later(stop);
  return stop;
}

async function outboxIds({ engine }: BenchFleet): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const json of eventsAfter(engine.store.outbox, ''))
    ids.add((JSON.parse(json) as { id: string }).id);
  return ids;
}

/** How many of the wanted events have not arrived in time. */
async function missing(consumer: Consumer, wanted: ReadonlySet<string>): Promise<number> {
  const until = Date.now() + ARRIVAL_MS;
  for (;;) {
    const left = [...wanted].filter((id) => !consumer.ids.has(id)).length;
    if (left === 0 || Date.now() > until) return left;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** The rounds of this row. */
class DeadSink {
  readonly #place: Place;
  readonly #redis: BenchRedis;
  readonly #workload: Workload;
  readonly #port: number;

  constructor(place: Place, redis: BenchRedis, workload: Workload, port: number) {
    this.#place = place;
    this.#redis = redis;
    this.#workload = workload;
    this.#port = port;
  }

  async #judge(fleet: BenchFleet): Promise<BatchReport> {
    const { runs } = this.#workload;
    await judge(fleet.engine, this.#workload, Math.min(runs.length, 1000), 'warm');
    return judge(fleet.engine, this.#workload, runs.length, 'judged');
  }

  async without(): Promise<BatchReport> {
    await this.#redis.clear();
    const fleet = await startFleet(this.#place, this.#redis.url, 'bench');
    const report = await this.#judge(fleet);
    await fleet.stop();
    return report;
  }

  async with(): Promise<BatchReport> {
    await this.#redis.clear();
    const fleet = await startFleet(this.#place, this.#redis.url, 'bench');
    const stop = await startSink(this.#place, fleet, this.#port);
    const { ms, faults } = await this.#judge(fleet);
    const consumer = new Consumer(this.#port);
    await consumer.start();
    this.#place.later(() => consumer.stop());
    const left = await missing(consumer, await outboxIds(fleet));
    await stop();
    await consumer.stop();
    await fleet.stop();
    return { ms, faults: left === 0 ? faults : [...faults, `${left} events did not arrive`] };
  }
}

/**
 * A batch while one sink is dead against the same batch without it, in turn; then the sink comes back, and
 * every event must arrive.
 */
export const sinks: Row = {
  name: 'sinks',
  lines: [
    {
      row: 'dead sink',
      what: 'a batch while one sink is dead, and the same batch without it',
      unit: 'ms',
      figure: 'times as long',
      direction: 'at most',
      bar: 1.1,
    },
  ],
  async measure(place) {
    const workload = makeWorkload(place.pick(20_000, 5000, 200));
    const pairs = new DeadSink(place, await place.redis(), workload, await freePort());
    const rounds: { sluice: number; peer: number }[] = [];
    const faults: string[] = [];
    for (let i = 1; i <= place.pick(4, 2, 1); i++) {
      const without = await pairs.without();
      const dead = await pairs.with();
      faults.push(...without.faults, ...dead.faults);
      rounds.push({ sluice: Math.round(dead.ms), peer: Math.round(without.ms) });
      place.say(`pair ${i}: ${Math.round(dead.ms)} ms, without it ${Math.round(without.ms)} ms`);
    }
    return [
      {
        sluice: median(rounds.map(({ sluice }) => sluice)),
        peer: median(rounds.map(({ peer }) => peer)),
        figure: hundredths(median(rounds.map(({ sluice, peer }) => sluice / peer))),
        rounds,
        faults,
      },
    ];
  },
};
