import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sealed, submission } from '../support/evidence.js';
import { configWith, evaluationsOf, HASTY, judgeBatch, keepAlive, openTestFleet } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

const rule = (label: string, pattern: string) => ({
  label,
  validator: 'pattern_match',
  where: 'job_plan',
  pattern,
});
const harmless = sealed('harmless', { job: [rule('a', 'one'), rule('b', 'two'), rule('c', 'three')] });
const poisoned = sealed('poisoned', { job: [rule('a', 'one'), rule('b', 'killer'), rule('c', 'three')] });

describe('a check that kills its worker', () => {
  it.each(['auto', 'off'] as const)(
    'ends as an error by itself, and its neighbours keep their verdicts, with packing %s',
    async (packing) => {
      const settings = { ...HASTY, fleet: `poison${packing}` };
      const fleet = await openTestFleet(redis.url, configWith(settings), ['aggregator']);
      const worker = await keepAlive({ settings, url: redis.url, roles: ['worker'] });
      try {
        const submissions = Array.from({ length: 12 }, (_, i) =>
          submission(i, i === 5 ? poisoned : harmless, { id: `r${i}`, job: { plan: 'one two three' } }),
        );
        const scenarios = [harmless, poisoned];
        const batch = await judgeBatch(fleet.engine, { id: 'b', scenarios, submissions }, { packing });
        expect(batch).toMatchObject({ state: 'completed', decided: 12, passed: 11, errored: 1 });
        expect(worker.deaths()).toBeGreaterThan(0);
        const evaluations = await evaluationsOf(fleet.engine.store, 'b');
        const bad = evaluations.filter(({ passed }) => !passed);
        expect(bad.map(({ run }) => run)).toEqual(['r5']);
        expect(bad[0]?.results.map(({ outcome }) => outcome)).toEqual(['pass', 'error', 'pass']);
        expect(bad[0]?.results[1]).toMatchObject({ data: { reason: 'stalled' } });
      } finally {
        await worker.stop();
        await fleet.close();
      }
    },
    120_000,
  );
});
