import { type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { PackAnswer, PackJob } from '../src/ports/queue.js';
import { openQueue, type StallSettings, workerOptions } from './connection.js';
import { packOptions, withRetry } from './job-options.js';
import { JobSignals } from './job-signals.js';
import { QUEUES } from './names.js';
import { countJobs, type Observers } from './observed.js';
import { patiently } from './patience.js';
import { decidePayloadSchema, type PackPayload, packPayloadSchema } from './payloads.js';
import { comeAgain, type PostponeDeps, postpone, triesOf } from './postpone.js';
import { connect, type QueuePlace } from './redis.js';
import { Suspects } from './suspects.js';

/** A role's hold on its queues. */
export interface Consumer {
  /** Called once the role can be seen by others. */
  begin?(): Promise<void>;
  /** Jobs in hand. */
  inHand?(): number;
  /** Takes nothing new; waits for what runs, `deadlineMs` at most, then aborts it. */
  drain(deadlineMs: number): Promise<void>;
}

const TOO_LATE = 'the drain deadline has passed';

export interface ConsumerDeps extends Observers {
  place: QueuePlace;
  stall: StallSettings;
  onError: (error: Error) => void;
}

/** `worker.close()` has no deadline of its own (DESIGN 5.7). `signals`: of jobs that do not take BullMQ's. */
export async function closeWithin(
  workers: readonly Worker[],
  deadlineMs: number,
  signals?: JobSignals,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), deadlineMs);
  });
  const closed = Promise.allSettled(workers.map((worker) => worker.close()));
  if ((await Promise.race([closed, late])) === 'late') {
    for (const worker of workers) worker.cancelAllJobs(TOO_LATE);
    signals?.abort(TOO_LATE);
    await Promise.race([
      Promise.allSettled(workers.map((worker) => worker.close(true))),
      new Promise((resolve) => setTimeout(resolve, 1000).unref()),
    ]);
  }
  clearTimeout(timer);
}

/** BullMQ makes an AbortSignal for each job of a processor that declares three parameters, and for no other. */
type Processor = (job: Job, token?: string, signal?: AbortSignal) => Promise<unknown>;

function openWorker(
  deps: ConsumerDeps,
  connection: Redis,
  name: string,
  concurrency: number,
  processor: Processor,
): Worker {
  const { place, stall } = deps;
  const worker = new Worker(name, processor, {
    ...workerOptions(connection, place.fleet, stall, concurrency, place.shard),
    ...(deps.telemetry === undefined ? {} : { telemetry: deps.telemetry }),
  });
  worker.on('error', deps.onError);
  if (deps.meter !== undefined) countJobs(worker, deps.meter);
  return worker;
}

/**
 * Evaluations that a worker likes to have in hand, however many packs they come in: small packs wait for
 * Redis far longer than they run.
 */
const IN_HAND = 64;

/** Packs to have in hand when packs hold `evaluations` on average: at least `least`, more when they are small. */
export function packsInHand(evaluations: number, least: number): number {
  return Math.max(least, Math.round(IN_HAND / Math.max(1, evaluations)));
}

/** Keeps a worker's concurrency in step with the size of the packs that come. */
function followPackSize(least: number): (worker: Worker, pack: PackPayload['pack']) => void {
  let average = IN_HAND;
  return (worker, { from, to }) => {
    average += (to - from - average) / 8;
    const wanted = packsInHand(average, least);
    if (worker.concurrency !== wanted) worker.concurrency = wanted;
  };
}

/**
 * Runs packs of the given queues. A pack whose runner is missing here is left to another worker: its
 * flow waits, and what waits is looked at again when a worker begins that has runners.
 */
export function consumePacks(
  deps: ConsumerDeps & Pick<PostponeDeps, 'standing'> & { tries: number; hasRunners: boolean },
  concurrency: { pure: number; runner: number },
  run: (job: PackJob) => Promise<PackAnswer>,
): Consumer {
  const connection = connect(deps.place.url, deps.onError);
  const queues = {
    pure: openQueue(connection, deps.place.fleet, QUEUES.pure, deps.place.shard),
    runner: openQueue(connection, deps.place.fleet, QUEUES.runner, deps.place.shard),
  };
  for (const queue of Object.values(queues)) queue.on('error', deps.onError);
  const workers = new Map<string, Worker>();
  const follow = followPackSize(concurrency.pure);
  const suspects = new Suspects();
  const signals = new JobSignals();
  const processor: Processor = (job, token) => signals.during((signal) => take(job, token, signal));
  const take = async (job: Job, token: string | undefined, signal: () => AbortSignal) => {
    withRetry(job);
    const payload = packPayloadSchema.parse(job.data);
    const pure = workers.get('pure');
    if (payload.pack.queue === 'pure' && pure !== undefined) follow(pure, payload.pack);
    const { chunk, attempt, generation, acceptedAt } = payload;
    const judge = (stalled: number) => {
      const pack = withoutUndefined(payload.pack);
      const tries = triesOf(job, payload);
      const { limitedSince } = payload;
      const limited = limitedSince === undefined ? {} : { limitedSince };
      const of = { chunk, attempt, generation, acceptedAt, pack, tries, stalled, ...limited };
      const work = () =>
        run({
          ...of,
          get signal() {
            return signal();
          },
        });
      return patiently(work, signal, deps.onError);
    };
    const answer = await (job.stalledCounter === 0 ? judge(0) : suspects.run(job, payload, judge));
    if (answer.kind === 'split') await addSiblings(job, payload, answer.packs);
    const { standing, onError } = deps;
    if (answer.kind === 'limited')
      await comeAgain({ signal: signal(), onError }, job, token, payload, answer);
    if (answer.kind !== 'unserved') return;
    const queue = queues[payload.pack.queue];
    await postpone({ queue, signal: signal(), standing, onError }, job, token, payload, answer.needs);
  };
  const addSiblings = async (job: Job, payload: PackPayload, packs: readonly PackPayload['pack'][]) => {
    const parent = job.parent;
    if (parent?.id === undefined) throw new Error(`job ${job.id} has no parent`);
    const { chunk, attempt, generation, acceptedAt } = payload;
    const queue = queues[payload.pack.queue];
    const owner = { id: parent.id, queue: parent.queueKey };
    await queue.addBulk(
      packs.map((pack, n) => ({
        name: 'pack',
        data: { chunk, attempt, generation, acceptedAt, pack } satisfies PackPayload,
        opts: {
          ...packOptions(`${job.id}.${n}`, deps.tries, job.priority || undefined),
          parent: owner,
          ...(job.opts.telemetry === undefined ? {} : { telemetry: job.opts.telemetry }),
        },
      })),
    );
  };
  for (const name of ['pure', 'runner'] as const) {
    const most = concurrency[name];
    if (most > 0) workers.set(name, openWorker(deps, connection, QUEUES[name], most, processor));
  }
  return {
    async begin() {
      if (deps.hasRunners && workers.has('runner')) await queues.runner.promoteJobs();
    },
    async drain(deadlineMs) {
      await closeWithin([...workers.values()], deadlineMs, signals);
      await Promise.allSettled(Object.values(queues).map((queue) => queue.close()));
      connection.disconnect();
    },
  };
}

function withoutUndefined(pack: PackPayload['pack']): PackJob['pack'] {
  const { checks, ...rest } = pack;
  return checks === undefined ? rest : { ...rest, checks };
}

/** Decides chunks whose packs are through. */
export function consumeDecisions(
  deps: ConsumerDeps,
  concurrency: number,
  decide: (chunk: string) => Promise<void>,
): Consumer {
  const connection = connect(deps.place.url, deps.onError);
  const worker = openWorker(deps, connection, QUEUES.decide, concurrency, async (job, _token, signal) => {
    const { chunk } = decidePayloadSchema.parse(job.data);
    await patiently(
      () => decide(chunk),
      () => signal ?? new AbortController().signal,
      deps.onError,
    );
  });
  return {
    async drain(deadlineMs) {
      await closeWithin([worker], deadlineMs);
      connection.disconnect();
    },
  };
}

/** Calls `sweep` on a schedule that all sweepers of the fleet share: one of them at a time. */
export async function consumeSweeps(
  deps: ConsumerDeps,
  everyMs: number,
  sweep: () => Promise<void>,
): Promise<Consumer> {
  const connection = connect(deps.place.url, deps.onError);
  const queue = openQueue(connection, deps.place.fleet, QUEUES.sweep);
  queue.on('error', deps.onError);
  await queue.upsertJobScheduler(
    'sweep',
    { every: everyMs },
    { name: 'sweep', opts: { removeOnComplete: true, removeOnFail: true } },
  );
  const worker = openWorker(deps, connection, QUEUES.sweep, 1, sweep);
  return {
    async drain(deadlineMs) {
      await closeWithin([worker], deadlineMs);
      await queue.close();
      connection.disconnect();
    },
  };
}
