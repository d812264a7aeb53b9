import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchesOf } from '../../src/compose/batches.js';
import { sealed, submission } from '../support/evidence.js';
import { configWith, openTestFleet, outboxOf, type TestFleet } from '../support/fleet.js';
import { useTestRedis } from '../support/use-redis.js';

const scenario = sealed('s', {
  job: [{ label: 'ok', validator: 'job_resolution_status', pattern: 'success' }],
});

async function* runs(prefix: string, count: number) {
  for (let n = 0; n < count; n += 1)
    yield submission(n, scenario, { id: `${prefix}${n}`, job: { resolution_status: 'success' } });
}

const redis = useTestRedis();

describe('large and small batches on one fleet', () => {
  let producer: TestFleet;
  let workers: TestFleet | undefined;
  beforeEach(async () => {
    producer = await openTestFleet(redis.url, configWith({ fairness: { window: 2000 } }), []);
  });
  afterEach(async () => {
    await workers?.close();
    workers = undefined;
    await producer.close();
    await redis.client.flushall();
  });

  async function submit(id: string, count: number, weight = 1) {
    const batches = batchesOf(producer.engine);
    await batches.open({ id, scenarios: [{ scenario }], weight });
    const report = await batches.submit(await batches.opened(id), runs(id, count), count, 'tester');
    await batches.seal(id);
    return report;
  }
  const status = (id: string) => producer.engine.store.batches.batch(id);
  const work = async () => {
    workers = await openTestFleet(redis.url, producer.engine.config);
  };

  /** The batches of all that was decided, in order. */
  async function decidedOrder(): Promise<string[]> {
    const events = await outboxOf(producer.engine.store);
    const decided = events.filter(({ type }) => /evaluation\.(passed|failed)/.test(type));
    return decided.map(({ data }) => String(data.batch));
  }

  it('decide the small one first, and the large ones by weight, whoever came first', async () => {
    await submit('a', 1500);
    await submit('b', 1500, 3);
    await submit('c', 20);
    await work();
    await vi.waitFor(
      async () => {
        for (const id of ['a', 'b', 'c']) expect((await status(id))?.state).toBe('completed');
      },
      { timeout: 30_000, interval: 50 },
    );
    const order = await decidedOrder();
    const before = order.slice(0, order.lastIndexOf('c'));
    // The first 256 of each large one, and what a worker has in hand.
    expect(before.length).toBeLessThan(2 * 256 + 20 + 10 * 64);
    const ahead = order.slice(0, order.lastIndexOf('b'));
    expect(ahead.filter((id) => id === 'a').length).toBeLessThan(1100);
    expect(order).toHaveLength(3020);
  });

  it('keep the turn of a chunk that is enqueued anew', async () => {
    await submit('a', 400);
    const chunks = await producer.engine.store.batches.chunksOf('a');
    const records = await producer.engine.store.evaluations.chunks(chunks.map(({ id }) => id));
    const last = records.at(-1)?.chunk;
    expect(records[0]?.chunk.turns).toBeUndefined();
    expect(last?.turns?.pure).toBeGreaterThan(0);
    if (last === undefined) return;
    await producer.engine.queue.enqueue(last, 2, [{ queue: 'pure', from: 0, to: last.evaluations.length }]);
    const prefix = `${producer.engine.config.fleet}:{0}`;
    const jobs = [`pure:${last.id}-1-1-0`, `pure:${last.id}-1-2-0`, `decide:${last.id}-1-2`];
    const priorities = await Promise.all(
      jobs.map((job) => redis.client.hget(`${prefix}:${job}`, 'priority')),
    );
    const turn = String(last.turns?.pure);
    expect(priorities).toEqual([turn, turn, '1']);
    expect(await producer.engine.queue.front()).toEqual({ pure: 1 });
  });

  it('are accepted no further than the window until something is decided', async () => {
    const submitting = submit('a', 3000);
    await vi.waitFor(async () => expect((await status('a'))?.accepted).toBeGreaterThanOrEqual(2000), {
      timeout: 10_000,
      interval: 20,
    });
    const pause = new Promise((resolve) => setTimeout(() => resolve('waits'), 300));
    expect(await Promise.race([submitting, pause])).toBe('waits');
    expect((await status('a'))?.accepted).toBeLessThan(2000 + 5 * 64);
    await work();
    expect(await submitting).toEqual({ accepted: 3000, standing: 0 });
  });
});
