import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweep } from '../../src/runners/process/leftovers.js';
import { noSandbox } from '../support/sandboxed.js';
import { newTraces, type Traces, traces } from '../support/traces.js';

const before = traces();
afterAll(async () => expect(await newTraces(before)).toEqual([]));

describe('a worker that is killed', () => {
  let left: Traces;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'killed-'));
    left = traces();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.skipIf(noSandbox !== undefined)('takes its sandboxes along', async () => {
    const worker = spawn(
      process.execPath,
      ['--import', 'tsx', new URL('../support/killed-worker.ts', import.meta.url).pathname],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, TMPDIR: folder } },
    );
    const [said] = await once(worker.stdout, 'data');
    expect(String(said)).toContain('running');
    expect([...traces()].filter((trace) => trace.includes('sleep 4715')).length).toBeGreaterThan(0);
    const gone = once(worker, 'exit');
    worker.kill('SIGKILL');
    await gone;
    expect(await newTraces(left)).toEqual([]);
    expect(await processesNamed('sleep 4715')).toEqual([]);
    const folders = async () => (await readdir(folder)).filter((name) => name.startsWith('sluice-'));
    expect(await folders()).toHaveLength(1);
    await sweep(folder);
    expect(await folders()).toEqual([]);
  });
});

it('folders of workers that live, and of other containers, are left alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'swept-'));
  const namespace = /\d+/.exec(await readlink('/proc/self/ns/pid'))?.[0];
  const kept = [
    `sluice-run-${process.pid}.${namespace}-a`,
    'sluice-run-999999999.1-b',
    'sluice-run-x',
    'other',
  ];
  for (const name of [...kept, `sluice-run-999999999.${namespace}-c`]) await mkdir(join(folder, name));
  await sweep(folder);
  expect((await readdir(folder)).sort()).toEqual(kept.sort());
  await rm(folder, { recursive: true });
});

/** Command lines of this host that end so, zombies left out; waits until the kernel is done. */
async function processesNamed(end: string): Promise<string[]> {
  let found: string[] = [];
  for (let i = 0; i < 40; i++) {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')),
    );
    found = lines.map((line) => line.replaceAll('\0', ' ').trim()).filter((line) => line.endsWith(end));
    if (found.length === 0) break;
    await later(50);
  }
  return found;
}
