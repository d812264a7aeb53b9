import { setTimeout as delay } from 'node:timers/promises';
import { FlowProducer, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BullBacklog } from '../../queues/backlog.js';
import type { QueueBacklog } from '../../src/ports/backlog.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const LONG_MS = 20_000;

let server: TestRedis;
let redis: Redis;
const open: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url, { maxRetriesPerRequest: null });
}, 120_000);

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

afterAll(async () => {
  redis?.disconnect();
  await server?.stop();
});

const closing = <T extends { close(): Promise<unknown> }>(one: T): T => {
  open.push(one);
  return one;
};
const queueOf = (fleet: string, name: 'pure' | 'runner' | 'decide', shard = 0) =>
  closing(new Queue(name, { connection: redis, prefix: `${fleet}:{${shard}}` }));
const backlogOf = (fleet: string, shards = 1) =>
  closing(new BullBacklog({ url: server.url, fleet, shards }, () => {}));
const never = new AbortController().signal;

const find = (all: QueueBacklog[], queue: string, shard = 0) =>
  all.find((one) => one.queue === queue && one.shard === shard);

describe('what waits', () => {
  it('is nothing where there is no queue', async () => {
    const all = await backlogOf('none').read();
    expect(all.map(({ queue, shard }) => `${queue} ${shard}`)).toEqual(['pure 0', 'runner 0', 'decide 0']);
    for (const one of all)
      expect(one).toMatchObject({
        waiting: 0,
        active: 0,
        delayed: 0,
        added: 0,
        dueMs: undefined,
        oldestMs: undefined,
      });
  });

  it('counts jobs with a priority and without, in hand, put off, and all that were ever added', async () => {
    const pure = queueOf('counts', 'pure');
    const old = Date.now() - 60_000;
    await pure.add('a', {}, { jobId: 'c-1', timestamp: old });
    await pure.add('b', {}, { jobId: 'c-2' });
    await pure.add('c', {}, { jobId: 'c-3', priority: 7, timestamp: old - 60_000 });
    await pure.add('d', {}, { jobId: 'c-4', delay: 30_000 });
    const backlog = backlogOf('counts');
    const [before] = await backlog.read();
    expect(before).toMatchObject({ queue: 'pure', waiting: 3, active: 0, delayed: 1, added: 4 });
    expect(before?.oldestMs).toBeGreaterThanOrEqual(120_000);
    expect(before?.dueMs).toBeGreaterThan(20_000);
    expect(before?.dueMs).toBeLessThanOrEqual(30_000);
    const worker = closing(new Worker('pure', null, { connection: redis, prefix: 'counts:{0}' }));
    expect(await worker.getNextJob('token')).toMatchObject({ id: 'c-1' });
    expect(find(await backlog.read(), 'pure')).toMatchObject({ waiting: 2, active: 1, delayed: 1, added: 4 });
  });

  it('is told for each shard', async () => {
    await queueOf('parts', 'runner', 1).add('a', {}, { jobId: 'p-1' });
    const all = await backlogOf('parts', 2).read();
    expect(all).toHaveLength(6);
    expect(find(all, 'runner', 0)?.waiting).toBe(0);
    expect(find(all, 'runner', 1)?.waiting).toBe(1);
  });
});

/** Whether `arrival` is over before the time that it was given. */
async function arrives(arrival: Promise<void>): Promise<boolean> {
  const waited = new AbortController();
  const late = delay(LONG_MS / 2, 'late' as const, { signal: waited.signal }).catch(() => 'late' as const);
  const first = await Promise.race([arrival.then(() => 'arrived' as const), late]);
  waited.abort();
  return first === 'arrived';
}

describe('an arrival', () => {
  it('is seen that came before the first call, and once', async () => {
    const backlog = backlogOf('early');
    await backlog.read();
    const pure = queueOf('early', 'pure');
    await pure.add('a', {}, { jobId: 'e-1' });
    expect(await arrives(backlog.arrival(['pure'], LONG_MS, never))).toBe(true);
    await backlog.arrival(['pure'], 50, never);
    const waiting = backlog.arrival(['pure', 'runner'], LONG_MS, never);
    await pure.add('b', {}, { jobId: 'e-2' });
    expect(await arrives(waiting)).toBe(true);
  });

  it.each([
    ['of a job with a priority', (queue: Queue) => queue.add('a', {}, { jobId: 'k-1', priority: 9 })],
    ['of a job whose time has come', (queue: Queue) => queue.promoteJobs()],
  ])('%s is seen, and nothing is taken away', async (_, act) => {
    const queue = queueOf('kinds', 'runner');
    await queue.add('d', {}, { jobId: `d-${Date.now()}`, delay: 60_000 });
    const backlog = backlogOf('kinds');
    await backlog.read();
    const waiting = backlog.arrival(['pure', 'runner'], LONG_MS, never);
    await act(queue);
    expect(await arrives(waiting)).toBe(true);
    const { waiting: jobs, delayed } = find(await backlog.read(), 'runner') ?? {};
    const counts = await queue.getJobCounts('wait', 'prioritized', 'delayed');
    expect({ jobs, delayed }).toEqual({
      jobs: (counts.wait ?? 0) + (counts.prioritized ?? 0),
      delayed: counts.delayed,
    });
  });

  it('of a flow is seen in each shard, but not in other queues, nor after the signal', async () => {
    const backlog = backlogOf('flows', 2);
    await backlog.read();
    const flows = closing(new FlowProducer({ connection: redis, prefix: 'flows:{1}' }));
    await flows.add({ name: 'p', queueName: 'decide', children: [{ name: 'c', queueName: 'pure' }] });
    const quiet = new AbortController();
    const elsewhere = backlog.arrival(['runner'], LONG_MS, quiet.signal);
    expect(await arrives(backlog.arrival(['pure'], LONG_MS, never))).toBe(true);
    const stop = new AbortController();
    const stopped = backlog.arrival(['runner'], LONG_MS, stop.signal);
    stop.abort();
    await stopped;
    expect(await Promise.race([elsewhere.then(() => 'arrived'), Promise.resolve('quiet')])).toBe('quiet');
    quiet.abort();
    await elsewhere;
  });

  it('does not wait for a Redis that is gone', async () => {
    const gone = await startTestRedis();
    const backlog = closing(new BullBacklog({ url: gone.url, fleet: 'gone' }, () => {}));
    await backlog.read();
    await gone.stop();
    await backlog.arrival(['pure'], 50, never);
  });
});
