import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSluice } from '../support/cli.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const SCENARIO = { key: 's', validation: { job: [{ label: 'few', validator: 'task_count', max: 3 }] } };
const RUNS = Array.from({ length: 7 }, (_, n) => `{"id":"r${n}"}\n`).join('');

let dir: string;
let redis: TestRedis;
const file = (name: string) => join(dir, name);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-sinks-'));
  redis = await startTestRedis();
  await writeFile(file('scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(file('runs.ndjson'), RUNS);
  await runSluice(['--version']);
}, 120_000);

afterAll(async () => {
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function settings(name: string, value: object): Promise<string> {
  await writeFile(file(name), JSON.stringify(value));
  return name;
}

const evaluate = (...args: string[]) =>
  runSluice(['evaluate', '.', '--runs', 'runs.ndjson', ...args], { cwd: dir });

async function typesIn(name: string): Promise<string[]> {
  const text = await readFile(file(name), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line).type);
}

const engines = () => ({ inline: ['--engine', 'inline'], fleet: ['--redis', redis.url, '--workers', '1'] });

describe('a configured sink', () => {
  it.each(['inline', 'fleet'] as const)('has every event when evaluate ends, %s engine', async (engine) => {
    const config = await settings(`${engine}.json`, { fleet: engine, sinks: [`ndjson=${engine}.ndjson`] });
    const { exitCode, stderr } = await evaluate('--config', config, ...engines()[engine]);
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('lacks')]);
    const types = await typesIn(`${engine}.ndjson`);
    expect(types.filter((type) => type.includes('evaluation.accepted'))).toHaveLength(7);
    expect(types.filter((type) => type.includes('evaluation.passed'))).toHaveLength(7);
    expect(types.filter((type) => type.includes('batch.completed'))).toHaveLength(1);
  });

  it('is checked with everything else before anything is judged', async () => {
    const config = await settings('wrong.json', { sinks: ['ndjso=x', 'ndjson=none/there/x'] });
    const args = ['--config', config, '--engine', 'inline', '--json', '--sink', 'kafka=x'];
    const { exitCode, stdout } = await evaluate(...args);
    expect(exitCode).toBe(2);
    const { problems } = JSON.parse(stdout).error;
    expect(problems).toEqual([
      expect.objectContaining({
        path: '--sink',
        found: 'kafka=x',
        allowed: expect.arrayContaining(['ndjson', 'redis-stream', 'stdout']),
      }),
      expect.objectContaining({ path: 'sinks[0]', found: 'ndjso=x', nearest: 'ndjson' }),
      expect.objectContaining({ path: 'sinks[1]', found: 'ndjson=none/there/x' }),
    ]);
  });
});
