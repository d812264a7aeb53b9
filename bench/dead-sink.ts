import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { configSchema } from '../config/schema.js';
import { openSinkReader, startDispatcher } from '../workers/dispatcher.js';
import type { Role } from '../workers/lifecycle.js';
import { type BenchFleet, judgeByEngine, startFleet } from './fleet.js';
import { hundredths, median, type Row } from './row.js';
import type { Workload } from './workload.js';

/** Times as long that a batch may take with a sink that is dead all the while. */
const TIMES = 1.1;
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
  }
}

/** The dispatcher runs beside the producer and the aggregator, as under `sluice up`. */
async function startSink(fleet: BenchFleet, port: number): Promise<Role> {
  const { delivery } = configSchema.parse({ delivery: { longest_wait: '2s' } });
  const { engine } = fleet;
  const setting = configSchema.parse({
    sinks: [
      {
        name: 'dead',
        kind: 'webhook',
        target: `http://127.0.0.1:${port}/`,
        options: { mode: 'batched', unsigned: true, allow_private: true },
      },
    ],
  }).sinks[0];
  if (setting === undefined) throw new Error('no sink');
  const { fleet: name } = engine.config;
  const reader = await openSinkReader(setting, {
    redisUrl: engine.redisUrl,
    fleet: name,
    config: delivery,
    onError: () => {},
  });
  await engine.store.outbox.openReader(reader.name, '');
  return startDispatcher(engine, [reader]);
}

/** Ids of all events in the outbox. */
async function outboxIds({ engine }: BenchFleet): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor = ''; ; ) {
    const entries = await engine.store.outbox.events(cursor, 1000, 0);
    if (entries.length === 0) return ids;
    for (const { event } of entries) ids.add(event.id);
    cursor = entries.at(-1)?.position ?? cursor;
  }
}

async function arrived(consumer: Consumer, wanted: ReadonlySet<string>): Promise<boolean> {
  const until = Date.now() + ARRIVAL_MS;
  while (Date.now() < until) {
    if ([...wanted].every((id) => consumer.ids.has(id))) return true;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return false;
}

interface Round {
  ms: number;
  exact: boolean;
}

async function judgeOnce(url: string, workload: Workload, runs: number, name: string): Promise<Round> {
  const fleet = await startFleet(url, name);
  await judgeByEngine(fleet.engine, workload, Math.min(runs, 1000), `${name}-warm`, 'auto');
  const { ms, decided, wrong } = await judgeByEngine(fleet.engine, workload, runs, name, 'auto');
  await fleet.stop();
  return { ms, exact: decided === runs && wrong === 0 };
}

async function judgeWithDeadSink(
  url: string,
  workload: Workload,
  runs: number,
  name: string,
  port: number,
): Promise<Round> {
  const fleet = await startFleet(url, name);
  const dispatcher = await startSink(fleet, port);
  await judgeByEngine(fleet.engine, workload, Math.min(runs, 1000), `${name}-warm`, 'auto');
  const { ms, decided, wrong } = await judgeByEngine(fleet.engine, workload, runs, name, 'auto');
  const consumer = new Consumer(port);
  await consumer.start();
  const wanted = await outboxIds(fleet);
  const all = await arrived(consumer, wanted);
  if (!all) process.stderr.write(`  ${wanted.size - consumer.ids.size} events did not arrive\n`);
  await dispatcher.stop();
  await consumer.stop();
  await fleet.stop();
  return { ms, exact: decided === runs && wrong === 0 && all };
}

/**
 * A batch while one sink is dead against the same batch without it, in turn; then the sink comes back, and
 * every event must arrive. An upper bar.
 */
export async function measureDeadSink(
  url: string,
  workload: Workload,
  options: { runs: number; rounds: number; port: number; clear(): Promise<void> },
): Promise<Row> {
  const rounds: Row['rounds'] = [];
  let exact = true;
  for (let i = 0; i < options.rounds; i++) {
    await options.clear();
    const without = await judgeOnce(url, workload, options.runs, `without-${i}`);
    await options.clear();
    const dead = await judgeWithDeadSink(url, workload, options.runs, `dead-${i}`, options.port);
    exact &&= without.exact && dead.exact;
    rounds.push({ sluice: Math.round(dead.ms), peer: Math.round(without.ms) });
    process.stderr.write(
      `  dead sink, pair ${i + 1}: ${Math.round(dead.ms)} ms, without it ${Math.round(without.ms)} ms\n`,
    );
  }
  const ratio = hundredths(median(rounds.map((round) => round.sluice / round.peer)));
  return {
    row: `${options.runs} runs, one sink dead, ms; times`,
    sluice: median(rounds.map((round) => round.sluice)),
    peer: median(rounds.map((round) => round.peer)),
    ratio,
    bar: TIMES,
    verdict: !exact ? 'FAILED' : ratio <= TIMES ? 'met' : 'missed',
    rounds,
  };
}
