import { FlowProducer, type Job, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Place } from '../harness/place.js';
import { RULES, type Run } from '../harness/workload.js';
import { judgedFaults } from './judged.js';

const PREFIX = 'raw:{0}';
const CONCURRENCY = 100;
const IN_FLIGHT = 50;

interface Verdict {
  passed: boolean;
}

const connect = (url: string) => new Redis(url, { maxRetriesPerRequest: null });

/** Runs the checks of raw flows; a process has one of these. */
export function rawChecks(url: string): Worker {
  const texts = new Redis(url, { maxRetriesPerRequest: null, enableAutoPipelining: true });
  const compiled = RULES.map(({ pattern }) => new RegExp(pattern, 'im'));
  return new Worker(
    'check',
    async (job): Promise<Verdict> => {
      const { key, rule } = job.data as { key: string; rule: number };
      const text = (await texts.get(key)) ?? '';
      return { passed: compiled[rule]?.test(text) !== RULES[rule]?.negate };
    },
    { connection: connect(url), prefix: PREFIX, concurrency: CONCURRENCY },
  );
}

/**
 * The peer: what one would write with BullMQ alone. One flow a run, one job a check, the text by
 * reference, native RegExp; one process runs checks, this one adds flows and runs the parents.
 */
export class RawFlows {
  readonly #connection: Redis;
  readonly #flows: FlowProducer;
  readonly #worker: Worker;
  readonly #ends = new Map<string, (verdicts: Verdict[]) => void>();

  private constructor(url: string) {
    this.#connection = connect(url);
    this.#flows = new FlowProducer({ connection: this.#connection, prefix: PREFIX });
    this.#worker = new Worker('gate', (job) => this.#decide(job), {
      connection: this.#connection,
      prefix: PREFIX,
      concurrency: CONCURRENCY,
    });
  }

  static async start(place: Place, url: string): Promise<RawFlows> {
    await place.child('raw-checks', { url });
    const flows = new RawFlows(url);
    place.later(() => flows.close());
    await flows.#worker.waitUntilReady();
    return flows;
  }

  async #decide(job: Job): Promise<{ passed: number }> {
    const verdicts = Object.values(await job.getChildrenValues<Verdict>());
    this.#ends.get((job.data as { key: string }).key)?.(verdicts);
    return { passed: verdicts.filter(({ passed }) => passed).length };
  }

  /** Adds a flow; `ended` has the verdicts as soon as its parent has seen them. */
  judgeOne(run: Run, round: string): { added: Promise<void>; ended: Promise<Verdict[]> } {
    const key = `raw:{0}:text:${round}:${run.id}`;
    const ended = new Promise<Verdict[]>((resolve) => this.#ends.set(key, resolve)).finally(() =>
      this.#ends.delete(key),
    );
    return { added: this.#add(key, run), ended };
  }

  async #add(key: string, run: Run): Promise<void> {
    await this.#connection.set(key, run.text);
    const children = RULES.map((_, rule) => ({
      name: 'check',
      queueName: 'check',
      data: { key, rule },
      opts: { removeOnComplete: true },
    }));
    await this.#flows.add({
      name: 'gate',
      queueName: 'gate',
      data: { key },
      opts: { removeOnComplete: true },
      children,
    });
  }

  /** Judges runs side by side; milliseconds until every parent has run, and what was lost. */
  async judge(runs: readonly Run[], round: string): Promise<{ ms: number; faults: string[] }> {
    const ends: Promise<Verdict[]>[] = [];
    const adding = new Set<Promise<unknown>>();
    const started = performance.now();
    for (const run of runs) {
      const { added, ended } = this.judgeOne(run, round);
      ends.push(ended);
      adding.add(added);
      void added.finally(() => adding.delete(added));
      if (adding.size >= IN_FLIGHT) await Promise.race(adding);
    }
    const verdicts = await Promise.all(ends);
    const ms = performance.now() - started;
    const judged = verdicts.map((of, i) => ({
      run: runs[i]?.id ?? '',
      checks: of.length,
      passed: of.filter(({ passed }) => passed).length,
    }));
    return { ms, faults: judgedFaults('the peer', judged, runs) };
  }

  async close(): Promise<void> {
    await this.#worker.close();
    await this.#flows.close();
    this.#connection.disconnect();
  }
}
