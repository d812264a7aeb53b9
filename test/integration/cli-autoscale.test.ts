import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WorkerPool } from '../../src/cli/autoscale/pool.js';
import { runSluice, spawnSluice, waitForExit } from '../support/cli.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

const SCENARIO = {
  key: 'short',
  validation: { job: [{ label: 'few tasks', validator: 'task_count', max: 3 }] },
};

let dir: string;
let server: TestRedis;
let redis: Redis;
const running: ChildProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-autoscale-'));
  server = await startTestRedis();
  redis = new Redis(server.url, { maxRetriesPerRequest: null });
  await writeFile(join(dir, 'scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(join(dir, 'runs.ndjson'), '{"id":"a"}\n{"id":"b"}\n');
}, 120_000);

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  redis?.disconnect();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Starts a role and waits for its one JSON line. */
async function start(...args: string[]) {
  const child = await spawnSluice([...args, '--json', '--log-level', 'warn'], { cwd: dir });
  running.push(child);
  const exit = waitForExit(child);
  const [line] = await once(child.stdout, 'data');
  return { child, exit, announced: JSON.parse(String(line)) };
}

const childrenOf = async (pid: number | undefined): Promise<number[]> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean).map(Number);

describe('sluice autoscale', () => {
  it('judges from zero workers, has zero again, and leaves none behind when it is killed', async () => {
    const place = ['--redis', server.url, '--fleet', 'demand'];
    const workers = async () =>
      (await redis.zrange('demand:{0}:roles', '0', '-1')).filter((name) => name.startsWith('worker/')).length;
    await start('aggregator', ...place);
    const scaler = await start(
      'autoscale',
      ...place,
      '--max',
      '1',
      '--idle',
      '300ms',
      '--listen',
      '127.0.0.1:0',
    );
    expect(scaler.announced).toMatchObject({ role: 'autoscaler', fleet: 'demand', min: 0, max: 1, warm: 1 });
    expect(await workers()).toBe(0);
    const asked = await fetch(`${scaler.announced.url}/scale?min=0&max=5`);
    expect(await asked.json()).toEqual({ value: 0, backlog: 0, oldest_ms: 0, workers: 0 });
    const judged = await runSluice(['evaluate', '.', '--runs', 'runs.ndjson', ...place, '--json'], {
      cwd: dir,
    });
    expect(judged).toMatchObject({ exitCode: 0 });
    const { evaluations } = JSON.parse(judged.stdout);
    const [first] = evaluations[0].results;
    // A child of the autoscaler did it, not one of evaluate.
    const [, pid] = /-(\d+)-[0-9a-f]{4}$/.exec(first.worker) ?? [];
    expect(pid).toBeDefined();
    await expect.poll(workers, { timeout: 30_000 }).toBe(0);
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 30_000 }).toBe(false);
    const [waiting, ...more] = await childrenOf(scaler.child.pid);
    expect(more).toEqual([]);
    expect(String(waiting)).not.toBe(pid);
    scaler.child.kill('SIGKILL');
    await expect.poll(() => existsSync(`/proc/${waiting}`), { timeout: 30_000 }).toBe(false);
  });

  it('refuses what it cannot use, all at once', async () => {
    const args = ['autoscale', '--redis', server.url, '--min', '4', '--max', '2', '--idle', 'soon', '--json'];
    const { exitCode, stdout } = await runSluice(args, { cwd: dir });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error.problems.map(({ path }: { path: string }) => path)).toEqual([
      '--idle',
      '--min',
    ]);
  });
});

/** A process that speaks as a worker does. */
const OBEDIENT = `
  process.on('message', (message) => {
    if (message === 'begin') process.send({ state: 'up', id: 'w' + process.pid });
    if (message === 'end when idle') process.send({ state: 'ending' }, () => process.exit(0));
  });
  process.on('disconnect', () => process.exit(0));
  process.send({ state: 'ready' });
`;

describe('a pool of worker processes', () => {
  it('starts those that end ever more rarely, says so once, lets others go on, and ends them all', async () => {
    const entries: string[] = [];
    const log = pino({ level: 'warn' }, { write: (entry) => void entries.push(JSON.parse(entry).msg) });
    const starts: number[] = [];
    let isBroken = false;
    let changed = () => {};
    const pool = new WorkerPool({
      spawn: () => {
        starts.push(performance.now());
        const script = isBroken ? 'process.exit(1)' : OBEDIENT;
        const child = spawn(process.execPath, ['-e', script], {
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        });
        running.push(child);
        return child;
      },
      warm: 0,
      max: 2,
      drainMs: 1000,
      log,
      onChange: () => changed(),
    });
    const until = async (is: () => boolean) => {
      while (!is()) await new Promise<void>((resolve) => (changed = resolve));
    };
    pool.resize(1);
    await until(() => pool.up === 1);
    isBroken = true;
    pool.resize(2);
    await until(() => starts.length === 4 && pool.starting === 0);
    isBroken = false;
    expect(pool.up).toBe(1);
    const pauses = starts.slice(2).map((at, i) => at - (starts[i + 1] ?? 0));
    // Timers may be a little early, never much.
    expect(pauses[0]).toBeGreaterThan(490);
    expect(pauses[1]).toBeGreaterThan(990);
    expect(entries).toEqual([
      'a worker process has ended by itself',
      'a worker process has ended by itself',
      'worker processes keep ending; others are started ever more rarely',
    ]);
    pool.resize(0);
    await until(() => pool.up === 0);
    await pool.stop();
    const alive = running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    expect(alive).toEqual([]);
  });
});
