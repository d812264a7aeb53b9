import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { evaluationsOf } from '../../src/compose/intake.js';
import { sealed, submission } from '../support/evidence.js';
import {
  type CloudEventJson,
  configWith,
  HASTY,
  judgeBatch,
  openTestFleet,
  outboxOf,
  type TestFleet,
} from '../support/fleet.js';
import { useTestRedis } from '../support/use-redis.js';

const MIB = 2 ** 20;
const COUNT = 1500;
const scenario = sealed('s', {
  job: [{ label: 'ok', validator: 'job_resolution_status', pattern: 'success' }],
});
const runs = Array.from({ length: COUNT }, (_, n) => ({
  id: `r${n}`,
  job: { resolution_status: 'success', plan: `${n} `.repeat(1000) },
}));
const submissions = runs.map((run, n) => submission(n, scenario, run));
const batch = { id: 'b', scenarios: [scenario], submissions };

const redis = useTestRedis();

describe('a batch that needs more memory than Redis has', () => {
  let fleet: TestFleet;
  beforeEach(async () => {
    await redis.client.flushall();
    await redis.client.config('RESETSTAT');
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.client.info('memory'))?.[1]);
    await redis.client.config('SET', 'maxmemory', String(used + 8 * MIB));
  });
  afterEach(async () => {
    await redis.client.config('SET', 'maxmemory', '0');
    await fleet.close();
  });
  const raise = () => redis.client.config('SET', 'maxmemory', '0');
  const refusals = async () => /errorstat_OOM/.test(await redis.client.info('errorstats'));
  const standing = () => fleet.engine.store.batches.batch('b');

  /** Evaluations that have one decision, each by its event. */
  async function decidedOnce(): Promise<number> {
    const events = await outboxOf(fleet.engine.store);
    const decided = events.filter(({ type }) => /evaluation\.(passed|failed)/.test(type));
    const ids = new Set(decided.map(({ data }: CloudEventJson) => data.evaluation));
    expect(decided).toHaveLength(ids.size);
    return ids.size;
  }

  it('waits before it is full, and goes on when there is room', async () => {
    fleet = await openTestFleet(redis.url, configWith({ backpressure: { redis_memory: '60%' } }));
    const { engine } = fleet;
    const waits = vi.spyOn(engine.log, 'warn');
    const judged = judgeBatch(engine, batch);
    judged.catch(() => {});
    await vi.waitFor(() => expect(waits.mock.calls.flat().join()).toMatch(/new work waits: Redis uses/), {
      timeout: 20_000,
      interval: 20,
    });
    const single = {
      origin: 'o',
      key: 'k',
      actor: 'a',
      scenario: { key: 's', validation: {} },
      run: runs[0],
    };
    await expect(evaluationsOf(engine).submit(single as never)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect((await standing())?.accepted).toBeLessThan(COUNT);
    expect(await refusals()).toBe(false);
    await raise();
    expect(await judged).toMatchObject({ state: 'completed', total: COUNT, passed: COUNT });
    expect(await decidedOnce()).toBe(COUNT);
  });

  it('is refused where nobody may wait, and nothing is lost or doubled once there is room', async () => {
    const config = configWith({ ...HASTY, backpressure: { redis_memory: 'off' } });
    // What was accepted and not enqueued is found by the sweeper.
    fleet = await openTestFleet(redis.url, config, ['worker', 'aggregator', 'sweeper']);
    await expect(judgeBatch(fleet.engine, batch)).rejects.toThrow(/OOM/);
    const accepted = (await standing())?.accepted ?? 0;
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(COUNT);
    await raise();
    await vi.waitFor(async () => expect((await standing())?.decided).toBe(accepted), {
      timeout: 20_000,
      interval: 50,
    });
    expect(await judgeBatch(fleet.engine, batch)).toMatchObject({ total: COUNT, passed: COUNT });
    expect(await decidedOnce()).toBe(COUNT);
  });
});
