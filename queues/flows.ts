import { type FlowJob, FlowProducer, type Job, type Queue, type Telemetry } from 'bullmq';
import type { Redis } from 'ioredis';
import { DECISION_TURN } from '../src/core/fairness.js';
import type { Chunk } from '../src/core/manifest.js';
import type { Pack } from '../src/core/packing.js';
import type { WorkQueue } from '../src/ports/queue.js';
import { openQueue } from './connection.js';
import { packOptions, RETRY } from './job-options.js';
import { flowId, QUEUES, queuePrefix } from './names.js';
import type { DecidePayload, PackPayload } from './payloads.js';

/** Tries of a decision over some two minutes; the sweeper enqueues the chunk anew after that. */
const DECIDE_TRIES = 8;

const ALIVE = new Set(['waiting', 'active', 'delayed', 'prioritized', 'waiting-children']);

/** BullMQ puts together the keys of a queue anew for each child that is added to it: once will do. */
function nameQueuesOnce(flows: FlowProducer): void {
  const backend = flows.getBackend();
  const make = backend.forQueue.bind(backend);
  const made = new Map<string, ReturnType<typeof make>>();
  backend.forQueue = (name, prefix) => {
    const key = `${prefix} ${name}`;
    const known = made.get(key) ?? make(name, prefix);
    made.set(key, known);
    return known;
  };
}

/** Flows through BullMQ: packs as children, the decision as their parent. The connection is not theirs. */
export class Flows implements WorkQueue {
  readonly #flows: FlowProducer;
  readonly #queues: Record<'pure' | 'runner' | 'decide', Queue>;
  readonly #tries: number;

  /** `tries`: how often a pack is run before infrastructure trouble makes it an error. */
  constructor(
    connection: Redis,
    fleet: string,
    tries: number,
    onError: (error: Error) => void,
    shard = 0,
    telemetry?: Telemetry,
  ) {
    this.#tries = tries;
    this.#flows = new FlowProducer({
      connection,
      prefix: queuePrefix(fleet, shard),
      ...(telemetry === undefined ? {} : { telemetry }),
    });
    this.#flows.on('error', onError);
    nameQueuesOnce(this.#flows);
    const open = (name: string) => {
      const queue = openQueue(connection, fleet, name, shard);
      queue.on('error', onError);
      return queue;
    };
    this.#queues = { pure: open(QUEUES.pure), runner: open(QUEUES.runner), decide: open(QUEUES.decide) };
  }

  async enqueue(
    chunk: Pick<Chunk, 'id' | 'attempt' | 'acceptedAt' | 'turns'>,
    generation: number,
    packs: readonly Pack[],
  ): Promise<void> {
    const id = flowId(chunk, generation);
    const data: DecidePayload = { chunk: chunk.id, attempt: chunk.attempt, generation };
    const children = packs.map(
      (pack, n): FlowJob => ({
        name: 'pack',
        queueName: QUEUES[pack.queue],
        data: { ...data, acceptedAt: chunk.acceptedAt, pack } satisfies PackPayload,
        opts: packOptions(`${id}-${n}`, this.#tries, chunk.turns?.[pack.queue]),
      }),
    );
    await this.#flows.add({
      name: 'decide',
      queueName: QUEUES.decide,
      data,
      opts: {
        jobId: id,
        attempts: DECIDE_TRIES,
        ...RETRY,
        removeOnComplete: true,
        ...(chunk.turns === undefined ? {} : { priority: DECISION_TURN }),
      },
      children,
    });
  }

  async isAlive(chunk: Pick<Chunk, 'id' | 'attempt'>, generation: number): Promise<boolean> {
    const parent: Job | undefined = await this.#queues.decide.getJob(flowId(chunk, generation));
    if (parent === undefined) return false;
    const state = await parent.getState();
    if (state !== 'waiting-children') return ALIVE.has(state);
    let cursor = 0;
    do {
      // A page may be empty, or hold dead children alone, while others live.
      const page = await parent.getDependencies({ unprocessed: { cursor, count: 50 } });
      for (const key of page.unprocessed ?? []) {
        if (await this.#childLives(key)) return true;
      }
      cursor = page.nextUnprocessedCursor ?? 0;
    } while (cursor !== 0);
    return false;
  }

  async #childLives(key: string): Promise<boolean> {
    const at = key.lastIndexOf(':');
    const name = key.slice(0, at).split(':').at(-1);
    const queue = name === 'pure' || name === 'runner' ? this.#queues[name] : undefined;
    // Its state alone would not do: a job that was lost may still stand in a list.
    const job: Job | undefined = await queue?.getJob(key.slice(at + 1));
    return job !== undefined && ALIVE.has(await job.getState());
  }

  /** Removes failed children whose parents went on long ago (DESIGN 5.6). */
  async removeFailed(olderThanMs: number): Promise<void> {
    for (const queue of Object.values(this.#queues)) await queue.clean(olderThanMs, 1000, 'failed');
  }

  async close(): Promise<void> {
    await Promise.allSettled([
      this.#flows.close(),
      ...Object.values(this.#queues).map((queue) => queue.close()),
    ]);
  }
}
