import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, runSluice } from '../support/cli.js';

const SCENARIO = { key: 's', validation: { job: [{ label: 'few', validator: 'task_count', max: 3 }] } };
const MAIN = join(ROOT, 'dist', 'src', 'cli', 'main.js');
const EVALUATE = 'evaluate . --runs runs.ndjson --engine inline';

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sluice-streams-'));
  await writeFile(join(dir, 'scenario.json'), JSON.stringify(SCENARIO));
  await writeFile(join(dir, 'runs.ndjson'), '{"id":"a"}\n{"id":"b"}\n');
  await runSluice(['--version']);
}, 120_000);

afterAll(() => rm(dir, { recursive: true, force: true }));

/** Runs `sluice ARGS REDIRECTIONS` in a shell; killed after 20 s. */
function shell(args: string): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const command = `exec "$0" "$1" ${args}`;
    const child = spawn('/bin/sh', ['-c', command, process.execPath, MAIN], { cwd: dir, timeout: 20_000 });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk);
    });
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}

describe('standard output on a full disk', () => {
  it.each([
    ['evaluate --json', `${EVALUATE} --json`],
    ['the report for people', EVALUATE],
    ['a dry run', `${EVALUATE} --dry-run --json`],
    ['a schema', 'schema scenario'],
    ['a refusal as JSON', 'evaluate nothing.json --runs runs.ndjson --json'],
  ])('ends %s with one sentence on standard error', async (name, args) => {
    const { exitCode, stderr } = await shell(`${args} > /dev/full`);
    expect(stderr).not.toContain('internal error');
    expect(exitCode).toBe(name.startsWith('a refusal') ? 2 : 3);
    expect(stderr.match(/^sluice: .*cannot be written.*$/gm) ?? []).toHaveLength(
      name.startsWith('a refusal') ? 0 : 1,
    );
  });
});

describe('streams that nobody reads', () => {
  it.each([
    ['closed standard output', `${EVALUATE} --json >&-`],
    ['closed standard error', `${EVALUATE} --json 2>&-`],
    ['both closed', `${EVALUATE} --json >&- 2>&-`],
    ['standard error on a full disk', `${EVALUATE} --json 2> /dev/full`],
    ['logs on a full disk', `${EVALUATE} --json --log-level trace 2> /dev/full`],
  ])('leave the verdict alone: %s', async (_name, args) => {
    const { exitCode, stderr } = await shell(args);
    expect([exitCode, stderr]).toEqual([0, '']);
  });
});
