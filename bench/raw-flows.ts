import { FlowProducer, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type Peer, spawnPeer } from './children.js';
import { RULES, type Workload } from './workload.js';

const PREFIX = 'raw:{0}';
const CONCURRENCY = 100;
const IN_FLIGHT = 50;

/**
 * The peer: what one would write with BullMQ alone. One flow a run, one job a check, the text by
 * reference, native RegExp; one process runs checks, this one adds flows and runs the parents.
 */
export async function startRawFlows(url: string): Promise<Peer> {
  return spawnPeer('raw', url);
}

/** Body of the peer's process: runs checks until it is told to end. */
export function runRawChecks(url: string): Worker {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const texts = new Redis(url, { maxRetriesPerRequest: null, enableAutoPipelining: true });
  const compiled = RULES.map(({ pattern }) => new RegExp(pattern, 'im'));
  return new Worker(
    'check',
    async (job) => {
      const { key, rule } = job.data as { key: string; rule: number };
      const text = (await texts.get(key)) ?? '';
      return { passed: compiled[rule]?.test(text) !== RULES[rule]?.negate };
    },
    { connection, prefix: PREFIX, concurrency: CONCURRENCY },
  );
}

export interface RawReport {
  ms: number;
  /** Runs whose parent saw a result for every check. */
  complete: number;
}

/** Judges the first `count` runs; resolves when every parent has run. */
export async function judgeByRawFlows(
  url: string,
  workload: Workload,
  count: number,
  round: string,
): Promise<RawReport> {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const runs = workload.runs.slice(0, count);
  const flows = new FlowProducer({ connection, prefix: PREFIX });
  let complete = 0;
  let parents = 0;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const worker = new Worker(
    'gate',
    async (job) => {
      const values = Object.values(await job.getChildrenValues<{ passed: boolean }>());
      if (values.length === RULES.length && values.every((value) => typeof value.passed === 'boolean'))
        complete += 1;
      return { passed: values.filter((value) => value.passed).length };
    },
    { connection, prefix: PREFIX, concurrency: CONCURRENCY },
  );
  worker.on('completed', () => {
    parents += 1;
    if (parents === count) finish();
  });
  await worker.waitUntilReady();
  const started = performance.now();
  const waiting = new Set<Promise<unknown>>();
  for (const run of runs) {
    const key = `raw:{0}:text:${round}:${run.id}`;
    const added = (async () => {
      await connection.set(key, run.text);
      const children = RULES.map((_, rule) => ({
        name: 'check',
        queueName: 'check',
        data: { key, rule },
        opts: { removeOnComplete: true },
      }));
      await flows.add({
        name: 'gate',
        queueName: 'gate',
        data: { run: run.id },
        opts: { removeOnComplete: true },
        children,
      });
    })();
    waiting.add(added);
    void added.finally(() => waiting.delete(added));
    if (waiting.size >= IN_FLIGHT) await Promise.race(waiting);
  }
  await Promise.all(waiting);
  await finished;
  const ms = performance.now() - started;
  await worker.close();
  await flows.close();
  connection.disconnect();
  return { ms, complete };
}
