import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runSluice, spawnSluice, waitForExit } from '../support/cli.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const SCENARIO = {
  key: 'short',
  validation: { job: [{ label: 'few tasks', validator: 'task_count', max: 3 }] },
};

let dir: string;
let redis: TestRedis;
const running: ChildProcessWithoutNullStreams[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-roles-'));
  redis = await startTestRedis();
  await writeFile(join(dir, 'scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(join(dir, 'runs.ndjson'), '{"id":"a"}\n{"id":"b"}\n');
}, 120_000);

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await redis?.stop();
  await rm(dir, { recursive: true, force: true });
});

const place = (fleet: string) => ['--redis', redis.url, '--fleet', fleet];
const sluice = (...args: string[]) => runSluice(args, { cwd: dir });

/** Starts a command and waits for its one JSON line. */
async function start(...args: string[]) {
  const child = await spawnSluice([...args, '--json'], { cwd: dir });
  running.push(child);
  const exit = waitForExit(child);
  const [line] = await once(child.stdout, 'data');
  const announced = JSON.parse(String(line));
  return {
    announced,
    end: () => {
      child.kill('SIGTERM');
      return exit;
    },
  };
}

describe('roles started by hand', () => {
  it('judge a batch that starts none, bring its events to a sink, and end with 0', async () => {
    const fleet = 'byhand';
    const sink = join(dir, 'byhand.ndjson');
    const roles = await Promise.all([
      start('worker', ...place(fleet), '--concurrency', '2'),
      start('aggregator', ...place(fleet)),
      start('sweeper', ...place(fleet)),
      start('dispatcher', ...place(fleet), '--sink', `ndjson=${sink}`),
    ]);
    expect(roles.map(({ announced }) => announced.role)).toEqual([
      'worker',
      'aggregator',
      'sweeper',
      'dispatcher',
    ]);
    const { exitCode } = await sluice(
      'evaluate',
      '.',
      '--runs',
      'runs.ndjson',
      ...place(fleet),
      '--workers',
      '0',
    );
    expect(exitCode).toBe(0);
    await expect.poll(() => readFile(sink, 'utf8'), { timeout: 20_000 }).toContain('batch.completed');
    const tail = await sluice('events', 'tail', ...place(fleet), '--no-follow', '--json');
    expect(tail.exitCode).toBe(0);
    expect(tail.stdout).toBe(await readFile(sink, 'utf8'));
    const some = await sluice(
      'events',
      'tail',
      ...place(fleet),
      '--no-follow',
      '--type',
      'evaluation.passed',
    );
    expect(some.stdout.trim().split('\n')).toHaveLength(2);
    const ends = await Promise.all(roles.map(({ end }) => end()));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
  });

  it('refuse to start without anything to do with 2, and without a Redis with 3', async () => {
    expect((await sluice('dispatcher', ...place('x'))).exitCode).toBe(2);
    const lost = await runSluice(['worker'], { cwd: dir, env: { PATH: '/nonexistent' } });
    expect(lost.exitCode).toBe(3);
    expect(lost.stderr).toContain('--redis');
    expect((await sluice('worker', ...place('x'), '--concurrency', '0')).exitCode).toBe(2);
  });
});

describe('up', () => {
  it('runs a whole fleet, and ends it with 0', async () => {
    const fleet = await start('up', ...place('whole'), '--workers', '1', '--log-level', 'warn');
    expect(fleet.announced).toMatchObject({ fleet: 'whole', workers: 1 });
    const { exitCode } = await sluice(
      'evaluate',
      '.',
      '--runs',
      'runs.ndjson',
      ...place('whole'),
      '--workers',
      '0',
    );
    expect(exitCode).toBe(0);
    expect((await fleet.end()).exitCode).toBe(0);
  });
});

describe('events tail', () => {
  it('follows, and ends with 0 on Ctrl-C', async () => {
    const child = await spawnSluice(['events', 'tail', ...place('tailed')], { cwd: dir });
    running.push(child);
    const exit = waitForExit(child);
    const first = once(child.stdout, 'data');
    await sluice('evaluate', '.', '--runs', 'runs.ndjson', ...place('tailed'), '--workers', '1');
    expect(String((await first)[0])).toContain('evaluation.accepted');
    child.kill('SIGINT');
    const { exitCode, stdout } = await exit;
    expect(exitCode).toBe(0);
    expect(stdout).toContain('batch.completed');
  });

  it('shows what was asked for: one batch, or what is recent', async () => {
    const onFleet = [...place('filtered'), '--no-follow'];
    const evaluate = ['evaluate', '.', '--runs', 'runs.ndjson', ...place('filtered'), '--workers', '1'];
    await sluice(...evaluate, '--batch', 'one');
    await sluice(...evaluate, '--batch', 'two');
    const one = await sluice('events', 'tail', ...onFleet, '--batch', 'one');
    expect(one.stdout).toContain('batch=one run=a scenario=short decision=passed score=1/1');
    expect(one.stdout).not.toContain('two');
    const completed = await sluice('events', 'tail', ...onFleet, '--type', 'dev.sluice.batch.completed.v1');
    expect(completed.stdout.trim().split('\n')).toHaveLength(2);
    const recent = await sluice('events', 'tail', ...onFleet, '--since', '1h', '--json');
    expect(recent.stdout.trim().split('\n').length).toBeGreaterThan(9);
    expect((await sluice('events', 'tail', ...onFleet, '--since', '0.001s')).stdout).toBe('');
  });

  it('refuses what is no type or duration with 2, and makes no Redis to read from: 3', async () => {
    const wrong = ['--type', 'evaluation.faild', '--since', 'yesterday', '--json'];
    const { exitCode, stdout } = await sluice('events', 'tail', ...place('x'), ...wrong);
    expect(exitCode).toBe(2);
    const { problems } = JSON.parse(stdout).error;
    expect(problems.map(({ path }: { path: string }) => path)).toEqual(['--type', '--since']);
    expect(problems[0].nearest).toBe('evaluation.failed');
    const empty = await mkdtemp(join(tmpdir(), 'sluice-empty-'));
    const nothing = await runSluice(['events', 'tail', '--no-follow'], { cwd: empty });
    expect([nothing.exitCode, await readdir(empty)]).toEqual([3, []]);
    expect(nothing.stderr).toContain('this folder has no private one');
    await rm(empty, { recursive: true });
  });

  it('is quiet when its reader goes away', async () => {
    const child = await spawnSluice(['events', 'tail', ...place('tailed')], { cwd: dir });
    running.push(child);
    const exit = waitForExit(child);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    await sluice('evaluate', '.', '--runs', 'runs.ndjson', ...place('tailed'), '--workers', '1');
    const { exitCode, stderr } = await exit;
    expect([exitCode, stderr]).toEqual([0, '']);
  });
});

describe('the commands without a fleet', () => {
  it('print schemas, and refuse an unknown one with the nearest', async () => {
    const { exitCode, stdout } = await sluice('schema', 'scenario');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ title: 'Sluice scenario' });
    const wrong = await sluice('schema', 'scenari', '--json');
    expect(wrong.exitCode).toBe(2);
    expect(JSON.parse(wrong.stdout).error.problems[0].nearest).toBe('scenario');
  });

  it('look at this machine: 0 for a Redis that is fit, 3 for one that is not there', async () => {
    const fit = await sluice('doctor', '--redis', redis.url, '--json');
    const { status, checks } = JSON.parse(fit.stdout);
    const ofRedis = checks.filter((check: { name: string }) => check.name === 'redis');
    expect(ofRedis.map((check: { status: string }) => check.status)).not.toContain('fail');
    expect(fit.exitCode).toBe(status === 'fail' ? 3 : 0);
    const { exitCode, stdout } = await sluice('doctor', '--redis', 'redis://127.0.0.1:1');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('ECONNREFUSED');
  });
});
