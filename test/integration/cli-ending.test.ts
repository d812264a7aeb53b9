import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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
  dir = await mkdtemp(join(tmpdir(), 'sluice-ending-'));
  redis = await startTestRedis();
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

async function start(...args: string[]) {
  const child = await spawnSluice(['evaluate', '.', '--runs', 'runs.ndjson', ...args], { cwd: dir });
  running.push(child);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const says = (text: string) => expect.poll(() => stderr, { timeout: 30_000, interval: 20 }).toContain(text);
  return { child, says, exit: waitForExit(child) };
}

/** The worker process of a command, stopped before it can take anything; a fork is none before its exec. */
async function stoppedWorker(command: number | undefined): Promise<number> {
  let worker = 0;
  const look = async () => {
    const children = await readFile(`/proc/${command}/task/${command}/children`, 'utf8').catch(() => '');
    for (const pid of children.split(' ').filter(Boolean).map(Number)) {
      const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (words.split('\0').includes('worker')) worker = pid;
    }
    return worker;
  };
  await expect.poll(look, { timeout: 30_000, interval: 5 }).toBeGreaterThan(0);
  process.kill(worker, 'SIGSTOP');
  return worker;
}

/** Whether a process runs that script; in a sandbox it can tell nobody its pid. */
async function playing(script: string): Promise<boolean> {
  for (const name of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
    const words = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (words.startsWith(`/bin/sh\0${script}\0`)) return true;
  }
  return false;
}

/** Whether a process is there and no zombie. */
async function isAlive(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return status !== '' && !/\) Z /.test(status);
}

describe('Ctrl-C twice', () => {
  it('prints one JSON document that says how to go on, and leaves no worker behind', async () => {
    const place = ['--redis', redis.url, '--fleet', 'twice', '--batch', 'b', '--json'];
    const { child, says, exit } = await start(...place, '--workers', '1');
    const pid = await stoppedWorker(child.pid);
    try {
      child.kill('SIGINT');
      await says('finishing what is in hand, up to 20 s; Ctrl-C again to stop at once');
      child.kill('SIGINT');
      const { exitCode, stdout, stderr } = await exit;
      expect(exitCode).toBe(3);
      const resume = expect.stringMatching(
        /^Stopped at once. Finish the batch with: sluice evaluate .*--batch b/,
      );
      expect(JSON.parse(stdout)).toEqual({ error: { code: 'INTERRUPTED', message: resume, problems: [] } });
      expect(stderr).toContain('Finish the batch with: sluice evaluate');
      await expect.poll(() => isAlive(pid)).toBe(false);
    } finally {
      if (await isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
  }, 60_000);
});

describe('Ctrl-C twice while a playbook runs in this process', () => {
  it('leaves no playbook behind', async () => {
    const web = join(dir, '.web');
    await mkdir(web);
    const rule = { label: 'up', validator: 'ansible', ansiblePath: 'validate.yml' };
    await writeFile(join(web, 'scenario.json'), JSON.stringify({ key: 'web', validation: { job: [rule] } }));
    await writeFile(join(web, 'validate.yml'), '- hosts: all\n');
    const program = join(dir, 'ansible-playbook');
    await writeFile(program, "#!/bin/sh\ntrap '' TERM INT\nwhile :; do sleep 1; done\n", { mode: 0o755 });
    const args = ['evaluate', '.web', '--runs', 'runs.ndjson', '--engine', 'inline', '--json'];
    const PATH = `${dir}:${process.env.PATH}`;
    const child = await spawnSluice(args, { cwd: dir, env: { PATH } });
    running.push(child);
    const exit = waitForExit(child);
    await expect.poll(() => playing(program), { timeout: 30_000 }).toBe(true);
    child.kill('SIGINT');
    await once(child.stderr, 'data');
    child.kill('SIGINT');
    const { exitCode, stdout } = await exit;
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout).error.message).toContain('The inline engine keeps nothing');
    await expect.poll(() => playing(program)).toBe(false);
  }, 60_000);
});

describe('Ctrl-C', () => {
  it('starts no worker anew that the terminal has ended too', async () => {
    const { child, says, exit } = await start('--redis', redis.url, '--fleet', 'once', '--workers', '1');
    const pid = await stoppedWorker(child.pid);
    child.kill('SIGINT');
    await says('finishing what is in hand');
    process.kill(pid, 'SIGKILL');
    const { exitCode, stderr } = await exit;
    expect(exitCode).toBe(3);
    expect(stderr).not.toContain('starting another');
  }, 60_000);
});

describe('a private Redis that is killed in mid-batch', () => {
  it('ends evaluate at once with one sentence and the call that finishes the batch', async () => {
    const { says, exit } = await start('--batch', 'p', '--workers', '0', '--json');
    await says('waiting for a live worker');
    const pid = Number(await readFile(join(dir, '.sluice/redis/redis.pid'), 'utf8'));
    const killedAt = Date.now();
    process.kill(pid, 'SIGKILL');
    const { exitCode, stdout } = await exit;
    expect(exitCode).toBe(3);
    expect(Date.now() - killedAt).toBeLessThan(10_000);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'REDIS_UNREACHABLE',
      message: expect.stringMatching(/^The private Redis of this folder has ended.*--batch p/),
    });
    const again = await runSluice(['evaluate', '.', '--runs', 'runs.ndjson', '--batch', 'p'], { cwd: dir });
    expect(again.exitCode).toBe(0);
  }, 90_000);
});
