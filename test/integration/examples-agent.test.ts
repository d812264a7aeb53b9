import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, type SluiceExit, waitForExit } from '../support/cli.js';
import { configWith, openTestFleet, type TestFleet } from '../support/fleet.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const AGENT = join(ROOT, 'examples', 'agent-loop', 'agent.ts');

/** Runs the example as its first lines say. */
function runAgent(redisUrl?: string): Promise<SluiceExit> {
  const env: NodeJS.ProcessEnv = { ...process.env, REDIS_URL: redisUrl };
  for (const name of ['VITEST', 'NODE_ENV']) delete env[name];
  if (redisUrl === undefined) delete env.REDIS_URL;
  const child = spawn(process.execPath, ['--import', 'tsx', AGENT], { cwd: ROOT, env });
  child.stdin.end();
  return waitForExit(child, 60_000);
}

/** What the agent says from its first fix to the open gate. */
const SAID = [
  'fix 1 of 3:',
  '  local/every-sku-once: SKUs that occur more than once: lamp',
  '  local/prices-in-range: prices out of range: desk',
  'fix 2 of 3:',
  '  local/prices-in-range: prices out of range: desk',
  'the gate is open',
  'published: [{"sku":"lamp","cents":4900},{"sku":"desk","cents":1999}]',
];

const expected = { exitCode: 0, stdout: `${SAID.join('\n')}\n`, stderr: '' };

describe('examples/agent-loop/agent.ts', () => {
  let redis: TestRedis;
  let fleet: TestFleet;
  beforeAll(async () => {
    redis = await startTestRedis();
    fleet = await openTestFleet(redis.url, configWith({ fleet: 'sluice' }), [
      'worker',
      'aggregator',
      'sweeper',
    ]);
  });
  afterAll(async () => {
    await fleet.close();
    await redis.stop();
  });

  it('mends its work until the gate opens, in a process of its own', async () => {
    expect(await runAgent()).toMatchObject(expected);
  });

  it('does the same on a fleet, and again on the same one', async () => {
    for (const _time of [1, 2]) expect(await runAgent(redis.url)).toMatchObject(expected);
  });

  it('is what docs/plans.md shows of it', () => {
    const page = readFileSync(join(ROOT, 'docs', 'plans.md'), 'utf8');
    const [, shown = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const lines = readFileSync(AGENT, 'utf8')
      .split('\n')
      .map((line) => line.trim());
    const own = shown.split('\n').map((line) => line.trim());
    expect(own.length).toBeGreaterThan(10);
    expect(own.filter((line) => !lines.includes(line))).toEqual([]);
  });
});
