import { pino } from 'pino';
import { configSchema } from '../config/schema.js';
import { runBatch } from '../src/app/run-batch.js';
import type { Submission } from '../src/app/submit.js';
import { type Engine, type FleetEngine, openFleet } from '../src/compose.js';
import type { Packing } from '../src/core/packing.js';
import { startAggregator } from '../workers/aggregator.js';
import { type Peer, spawnPeer } from './children.js';
import type { Workload } from './workload.js';

const log = pino({ level: 'warn' }, pino.destination(2));

/** A fleet with one executor process; producer and aggregator are in this one. */
export interface BenchFleet {
  engine: FleetEngine;
  stop(): Promise<void>;
}

export async function startFleet(url: string, fleet: string): Promise<BenchFleet> {
  const engine = await openFleet(configSchema.parse({ fleet }), url, log);
  const aggregator = await startAggregator(engine);
  const executor: Peer = await spawnPeer('executor', url, fleet);
  return {
    engine,
    async stop() {
      await executor.stop();
      await aggregator.stop();
      await engine.close();
    },
  };
}

export interface FleetReport {
  ms: number;
  decided: number;
  /** Evaluations that did not get exactly one decision event; 0 is exact delivery. */
  wrong: number;
}

/** Judges the first `count` runs as one batch; resolves when it is complete. */
export async function judgeByEngine(
  engine: Engine,
  workload: Workload,
  count: number,
  round: string,
  packing: Packing,
): Promise<FleetReport> {
  const { scenario } = workload;
  const from = await engine.store.outbox.lastEvent();
  const submissions = workload.runs
    .slice(0, count)
    .map((run, index): Submission => ({ index, run: run.id, case: run.id, scenario, subject: run.subject }));
  const settings = {
    fleet: engine.config.fleet,
    packing,
    expected: count,
    workers: 1,
    deadlineMs: 3_600_000,
    checkAfterMs: 600_000,
  };
  const opening = {
    id: round,
    createdAt: Date.now(),
    options: { strict: false, from: 'direct' as const, informationalErrors: 'ignore' as const },
    scenarios: { [scenario.key]: scenario.digest },
    retentionMs: 600_000,
  };
  const blobs = [{ digest: scenario.digest, content: workload.scenarioJson }];
  const started = performance.now();
  const batch = await runBatch(engine, settings, opening, blobs, submissions, new AbortController().signal);
  const ms = performance.now() - started;
  return { ms, decided: batch.decided, wrong: await wrongDeliveries(engine, from, round, count) };
}

async function wrongDeliveries(engine: Engine, from: string, batch: string, count: number): Promise<number> {
  if (engine.kind === 'inline') return 0;
  const seen = new Map<string, number>();
  let cursor = from;
  for (;;) {
    const entries = await engine.store.outbox.events(cursor, 1000, 0);
    if (entries.length === 0) break;
    cursor = entries.at(-1)?.position ?? cursor;
    for (const { event } of entries) {
      if (
        !/evaluation\.(passed|failed)/.test(event.type) ||
        !event.json.includes(`"correlationid":"${batch}"`)
      )
        continue;
      const { subject } = JSON.parse(event.json) as { subject: string };
      seen.set(subject, (seen.get(subject) ?? 0) + 1);
    }
  }
  return Math.abs(count - seen.size) + [...seen.values()].filter((n) => n !== 1).length;
}
