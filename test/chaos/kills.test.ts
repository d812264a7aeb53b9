import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openInline } from '../../src/compose.js';
import type { Store } from '../../src/ports/store.js';
import {
  comparable,
  configWith,
  evaluationsOf,
  eventsByEvaluation,
  HASTY,
  judgeBatch,
  keepAlive,
  openTestFleet,
  outboxOf,
  silent,
  startRoleProcess,
} from '../support/fleet.js';
import { mixed, mixedRuns } from '../support/mixed-batch.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const N = 600;
const KILLS = 4;
// Without the run whose pattern is stopped by its deadline: that would be about time.
const submissions = mixedRuns(N + N / 5)
  .filter((_, i) => i % 6 !== 2)
  .slice(0, N)
  .map((run, index) => ({ ...run, index }));
const input = { id: 'b', scenarios: [mixed], submissions };
const settings = {
  ...HASTY,
  worker: { lock: '2s', stalled_interval: '300ms', poisonous_after: 20, max_stalls: 100 },
  patterns: { deadline: '1s' },
};
// One check a job, in many small flows: kills find the work in mid-batch.
const spread = { packing: 'off', expected: N, workers: 20 } as const;

let plain: ReturnType<typeof comparable>;
const opened: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  const inline = openInline(configWith(settings), silent);
  await judgeBatch(inline, input);
  plain = comparable(await evaluationsOf(inline.store, 'b'));
  expect(plain).toHaveLength(N);
}, 120_000);
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function startRedis(): Promise<TestRedis> {
  const redis = await startTestRedis({ appendonly: true, appendfsync: 'always' });
  opened.push(() => redis.stop());
  return redis;
}

async function startFleet(redis: TestRedis, fleet: string, roles: ('worker' | 'aggregator' | 'sweeper')[]) {
  const opening = await openTestFleet(redis.url, configWith({ ...settings, fleet }), roles);
  opened.push(() => opening.close());
  return opening.engine;
}

/** Calls `work` each time more was decided, until it has done its work `times` times or the batch is over. */
async function whenever(store: Store, times: number, work: () => Promise<boolean>): Promise<number> {
  let cursor = '';
  for (let done = 0; done < times; ) {
    const page = await store.batches.decidedSince('b', cursor, 1000);
    cursor = page.cursor;
    if ((await store.batches.batch('b'))?.state === 'completed') return done;
    if (page.entries.length === 0) continue;
    if (await work()) done += 1;
  }
  return times;
}

/** Every evaluation decided exactly once, as in one quiet process, and every event once. */
async function expectExactlyOnce(store: Store) {
  expect(await store.batches.batch('b')).toMatchObject({ state: 'completed', total: N, decided: N });
  expect(comparable(await evaluationsOf(store, 'b'))).toEqual(plain);
  const events = await outboxOf(store);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const own = Object.values(eventsByEvaluation(events));
  expect(own).toHaveLength(N);
  for (const types of own) {
    expect(types.filter((type) => type === 'evaluation.accepted')).toHaveLength(1);
    expect(types.filter((type) => /^evaluation\.(passed|failed)$/.test(type))).toHaveLength(1);
  }
  expect(events.filter(({ type }) => type.includes('batch.completed'))).toHaveLength(1);
}

describe('every evaluation is decided exactly once, with the verdict of a quiet run', () => {
  it.each([
    ['worker', ['aggregator', 'sweeper']],
    ['aggregator', ['worker', 'sweeper']],
  ] as const)('while a %s is killed in mid-batch again and again', async (victim, others) => {
    const redis = await startRedis();
    const fleet = `kill${victim}`;
    const engine = await startFleet(redis, fleet, [...others]);
    const process = await keepAlive({ settings: { ...settings, fleet }, url: redis.url, roles: [victim] });
    opened.push(() => process.stop());
    const judging = judgeBatch(engine, input, spread);
    const kills = await whenever(engine.store, KILLS, async () => {
      const doomed = process.current();
      if (doomed.exitCode !== null || doomed.signalCode !== null) return false;
      const gone = once(doomed, 'exit');
      doomed.kill('SIGKILL');
      await gone;
      return true;
    });
    await judging;
    expect(kills).toBe(KILLS);
    expect(process.deaths()).toBeGreaterThanOrEqual(KILLS);
    await expectExactlyOnce(engine.store);
  });

  it('while Redis is killed and comes back, with an append-only file that is always written', async () => {
    const redis = await startRedis();
    const engine = await startFleet(redis, 'killredis', ['worker', 'aggregator', 'sweeper']);
    const judging = judgeBatch(engine, input, spread);
    const kills = await whenever(engine.store, 3, async () => {
      await redis.kill();
      await redis.restart();
      return true;
    });
    await judging;
    expect(kills).toBe(3);
    await expectExactlyOnce(engine.store);
  });

  it('while a worker is told to end: it finishes what it has in hand and exits 0 in time', async () => {
    const redis = await startRedis();
    const fleet = 'drain';
    const engine = await startFleet(redis, fleet, ['aggregator']);
    const told = { settings: { ...settings, fleet }, url: redis.url, roles: ['worker' as const] };
    const first = await startRoleProcess(told);
    const judging = judgeBatch(engine, input, spread);
    await whenever(engine.store, 1, async () => true);
    const exit = once(first, 'exit', { signal: AbortSignal.timeout(engine.config.worker.drain) });
    first.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    expect((await engine.store.batches.batch('b'))?.state).toBe('open');
    expect((await engine.store.roster.alive(0)).map(({ role }) => role)).toEqual(['aggregator']);
    const second = await startRoleProcess(told);
    await judging;
    second.kill('SIGTERM');
    expect(await once(second, 'exit')).toEqual([0, null]);
    await expectExactlyOnce(engine.store);
    // Nothing was left to be found stalled: each check ran once.
    const tries = (await evaluationsOf(engine.store, 'b')).flatMap(({ results }) =>
      results.map((r) => r.tries),
    );
    expect(Math.max(...tries)).toBe(1);
  });
});

afterAll(() => {
  expect(opened).toEqual([]);
});
