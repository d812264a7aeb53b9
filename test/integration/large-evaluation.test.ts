import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sealed, submission } from '../support/evidence.js';
import {
  configWith,
  evaluationsOf,
  judgeBatch,
  openTestFleet,
  outboxOf,
  type TestFleet,
} from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const CHECKS = 20_000;
/** One rule in so many does not hold. */
const FAILS_EVERY = 50;

let redis: TestRedis;
let fleet: TestFleet;
let client: Redis;
beforeAll(async () => {
  redis = await startTestRedis();
  client = new Redis(redis.url);
  // Redis hangs up on whoever sends more than 2 MiB at a time, or does not take 8 MiB of answers.
  await client.config('SET', 'client-query-buffer-limit', '2mb');
  await client.config('SET', 'client-output-buffer-limit', 'normal 8mb 0 0');
  fleet = await openTestFleet(redis.url, configWith({ events: { per_check: true } }));
});
afterAll(async () => {
  await fleet.close();
  client.disconnect();
  await redis.stop();
});

it('decides an evaluation of 20,000 checks in small commands, with each result and event once', async () => {
  const { store } = fleet.engine;
  const fails = (n: number) => n % FAILS_EVERY === 0;
  const scenario = sealed('large', {
    tasks: Array.from({ length: CHECKS }, (_, n) => ({
      label: `rule ${n} of a scenario with many`,
      validator: 'pattern_match',
      where: 'executed_commands',
      pattern: fails(n) ? `never-${n}` : `step ${n % 20}\\b`,
      required: n % 2 === 1,
    })),
  });
  const commands = Array.from({ length: 20 }, (_, n) => `echo step ${n} ${'🙂'.repeat(100)}`);
  const run = submission(0, scenario, { id: 'run', tasks: [{ id: 't', commands }] });
  const batch = await judgeBatch(fleet.engine, { id: 'b', scenarios: [scenario], submissions: [run] });
  expect(batch).toMatchObject({ decided: 1, passed: 1, errored: 0 });

  const [evaluation] = await evaluationsOf(store, 'b');
  const failing = CHECKS / FAILS_EVERY;
  expect(evaluation?.score).toMatchObject({ passed: CHECKS - failing, total: CHECKS });
  expect(evaluation?.results.map(({ passed }) => passed)).toEqual(
    Array.from({ length: CHECKS }, (_, n) => !fails(n)),
  );

  const events = await outboxOf(store);
  const named = (name: string) => events.filter(({ type }) => type === `dev.sluice.${name}.v1`);
  expect(named('evaluation.passed')).toHaveLength(1);
  expect(new Set(named('validation.failed').map(({ data }) => data.validation)).size).toBe(failing);
  expect(named('validation.failed')).toHaveLength(failing);
  const [raised] = named('advisory.raised');
  expect(raised?.data.total).toBe(failing);
  expect(raised?.data.advisories).toHaveLength(100);

  const keys = await client.keys('*');
  const sizes = await Promise.all(keys.map((key) => client.memory('USAGE', key, 'SAMPLES', 0)));
  const longest = keys.filter((key, i) => Number(sizes[i]) > 1_200_000 && !key.endsWith(':outbox'));
  expect(longest).toEqual([]);
});
