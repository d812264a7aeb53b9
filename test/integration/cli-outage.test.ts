import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runSluice, spawnSluice, waitForExit } from '../support/cli.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const SCENARIO = { key: 's', validation: { job: [{ label: 'few', validator: 'task_count', max: 3 }] } };

let dir: string;
let redis: TestRedis;
const running: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-outage-'));
  redis = await startTestRedis({ appendonly: true, appendfsync: 'always' });
  await writeFile(join(dir, 'scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(join(dir, 'runs.ndjson'), '{"id":"a"}\n{"id":"b"}\n');
  await runSluice(['--version']);
}, 120_000);

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

const place = (fleet: string) => ['--redis', redis.url, '--fleet', fleet];

async function start(...args: string[]) {
  const child = await spawnSluice(args, { cwd: dir });
  running.push(child);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const says = (text: string) => expect.poll(() => stderr, { timeout: 30_000, interval: 50 }).toContain(text);
  return { child, says, exit: waitForExit(child) };
}

const linesWith = (text: string, part: string) => text.split('\n').filter((line) => line.includes(part));

describe('an outage of Redis', () => {
  it('is told once as it begins and once as it ends, in sentences, while evaluate waits', async () => {
    const batch = ['evaluate', '.', '--runs', 'runs.ndjson', ...place('out'), '--batch', 'b1'];
    const waiting = await start(...batch, '--workers', '0');
    await waiting.says('waiting for a live worker and aggregator');
    await redis.kill();
    await waiting.says('Redis is away');
    await redis.restart();
    await waiting.says('Redis is back');
    const helper = await runSluice([...batch, '--workers', '1'], { cwd: dir });
    expect(helper.exitCode).toBe(0);
    const { exitCode, stderr } = await waiting.exit;
    expect(exitCode).toBe(0);
    expect(linesWith(stderr, 'Redis is away')).toEqual([
      expect.stringMatching(/^sluice: Redis is away: .+; waiting$/),
    ]);
    expect(linesWith(stderr, 'Redis is back')).toEqual(['sluice: Redis is back']);
    expect(stderr).not.toMatch(/[{}]|errno|\n\s+at /);
    const again = await runSluice([...batch, '--workers', '0'], { cwd: dir });
    expect(again.stderr).toContain('sluice: batch b1: 2 of 2 were decided already');
  }, 120_000);

  it('is one log entry at each end for a worker, with the level as a word and the time as ISO', async () => {
    const worker = await start('worker', ...place('logs'));
    await worker.says('worker is up');
    await redis.kill();
    await worker.says('Redis is away');
    await redis.restart();
    await worker.says('Redis is back');
    worker.child.kill('SIGTERM');
    const { exitCode, stderr } = await worker.exit;
    expect(exitCode).toBe(0);
    const entries = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entries.map(({ level, msg }) => `${level}: ${msg}`)).toEqual([
      'info: worker is up',
      'warn: Redis is away; waiting',
      'warn: Redis is back',
      'info: worker has stopped',
    ]);
    for (const { time } of entries) expect(new Date(time).toISOString()).toBe(time);
  }, 120_000);
});
