import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ToolRun } from '../../src/ports/runner.js';
import { startExecutor } from '../../workers/executor.js';
import type { Role } from '../../workers/lifecycle.js';
import { fakeRunners } from '../support/fake-runners.js';
import { configWith, openTestFleet } from '../support/fleet.js';
import { AGENT, attach, placeOf, register, settled } from '../support/plan-play.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const R = 'repo/app';
const NAMES = ['a', 'b', 'c', 'd', 'e'];

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

describe('checks beyond a limit', () => {
  it('wait for their turn over all workers, and hold up no other', async () => {
    const limits = { projects: { shop: { concurrency: 2 } } };
    const fleet = await openTestFleet(redis.url, configWith({ limits }), ['aggregator']);
    const { engine } = fleet;
    const place = placeOf(engine);
    const workers: Role[] = [];
    const begun: string[] = [];
    let open = () => {};
    const released = new Promise<void>((resolve) => {
      open = resolve;
    });
    const running = { now: 0, most: 0 };
    const run = async ({ document }: ToolRun) => {
      if (document.name === 'local/other') return verdict;
      begun.push(document.name);
      running.now += 1;
      running.most = Math.max(running.most, running.now);
      await released;
      running.now -= 1;
      return verdict;
    };
    const verdict = {
      kind: 'verdict' as const,
      verdict: { outcome: 'pass' as const, message: 'fine', data: {} },
    };
    try {
      for (let n = 0; n < 2; n += 1) workers.push(await startExecutor(engine, fakeRunners(['command'], run)));
      const commands = [...NAMES, 'other'].map((name) => ({
        name,
        description: name,
        command: ['/bin/true'],
        read_only: true,
      }));
      await register(place, commands);
      await attach(place, R, NAMES);
      await attach(place, 'repo/other', ['other']);
      const submit = (plan: string, project: string, resource: string) =>
        place.plans.run({
          type: 'submit',
          plan,
          project,
          command: plan,
          snapshots: { [resource]: {} },
          actor: AGENT,
        });
      await submit('limited', 'shop', R);
      await vi.waitFor(() => expect(begun).toHaveLength(2), { timeout: 20_000, interval: 10 });
      await submit('free', 'blog', 'repo/other');
      await settled(engine.store, 'free');
      expect(begun).toHaveLength(2);
      open();
      await settled(engine.store, 'limited');
      const results = (await place.plans.status('limited')).evaluations.flatMap((each) => each.results);
      expect(results.map(({ outcome, tries }) => [outcome, tries])).toEqual(NAMES.map(() => ['pass', 1]));
      expect([...begun].sort()).toEqual(NAMES.map((name) => `local/${name}`));
      expect(running.most).toBe(2);
    } finally {
      open();
      await Promise.all(workers.map((role) => role.stop()));
      await fleet.close();
    }
  });
});
