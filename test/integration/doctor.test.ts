import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorReport } from '../../src/doctor/check.js';
import { runDoctor } from '../../src/doctor/run.js';
import { ensurePrivateRedis } from '../../src/embedded/private-redis.js';
import { runSluice } from '../support/cli.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';

let base: string;
let redis: TestRedis;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'sluice-doctor-'));
  redis = await startTestRedis({ policy: 'allkeys-lru' });
});

afterAll(async () => {
  await redis.stop();
  await rm(base, { recursive: true, force: true });
});

const of = (report: DoctorReport, name: string) => report.checks.filter((check) => check.name === name);

describe('doctor', () => {
  it('reports eviction and a missing append-only file of a real Redis', async () => {
    const report = await runDoctor({ dir: base, redisUrl: redis.url });
    expect(of(report, 'redis').map((check) => check.status)).toEqual(['ok', 'fail', 'warn']);
    expect(report.status).toBe('fail');
  });

  it('names what is missing where PATH is empty', async () => {
    const report = await runDoctor({ dir: base, env: { PATH: base } });
    for (const name of ['redis', 'redis-server', 'ansible']) {
      expect(of(report, name)).toEqual([expect.objectContaining({ status: 'warn' })]);
    }
    expect(report.status).toBe('warn');
  });

  it('creates nothing', async () => {
    const report = await runDoctor({ dir: join(base, 'none', '.sluice'), env: { PATH: base } });
    expect(of(report, 'disk')).toEqual([expect.not.objectContaining({ status: 'fail' })]);
    expect(await readdir(base)).not.toContain('none');
  });

  it('does not promise a sandbox that this version lacks', async () => {
    await writeFile(join(base, 'ansible-playbook'), '#!/bin/sh\necho "ansible-playbook [core 2.14]"\n', {
      mode: 0o755,
    });
    const report = await runDoctor({ dir: base, env: { PATH: `${base}:/bin:/usr/bin` } });
    expect(of(report, 'ansible')[0]?.advice).toContain('read_only: declared');
    expect(of(report, 'bubblewrap')[0]?.status).not.toBe('fail');
  });

  it('says what is refused without a sandbox, and what an operator may choose', async () => {
    const [found] = of(await runDoctor({ dir: base, env: { PATH: base } }), 'bubblewrap');
    expect(found).toMatchObject({ status: 'warn', found: 'bwrap is not in PATH' });
    for (const word of ['refused', 'install bubblewrap', 'sandbox: container', 'sandbox: off']) {
      expect(found?.advice).toContain(word);
    }
  });

  it('reports a Redis that is not there, without the password in its address', async () => {
    const report = await runDoctor({ dir: base, redisUrl: `redis://:secret@127.0.0.1:${await freePort()}` });
    expect(of(report, 'redis')).toEqual([expect.objectContaining({ status: 'fail' })]);
    expect(JSON.stringify(report)).not.toContain('secret');
  });

  it('looks at the private Redis of a folder that runs, by the settings, and starts none', async () => {
    const home = join(base, 'home');
    const settings = [
      'sandbox: "off"',
      'plans: { require_enforced: true }',
      'worker: { runner_concurrency: 0 }',
    ];
    await mkdir(home);
    await writeFile(join(home, 'sluice.yaml'), settings.join('\n'));
    const scan = { description: 'scans', source: 'mcp', mcp_server: 'typo', mcp_tool_name: 'scan' };
    await writeFile(join(home, 'scan.json'), JSON.stringify({ kind: 'tool', name: 'scan', ...scan }));
    const doctor = async () => {
      const args = ['doctor', '--config', 'sluice.yaml', '--json'];
      const { stdout, exitCode } = await runSluice(args, { cwd: home });
      expect(exitCode).toBe(3);
      return JSON.parse(stdout) as DoctorReport;
    };
    const told = (report: DoctorReport) => report.checks.map(({ status, found }) => `${status}: ${found}`);

    expect(told(await doctor()).join('\n')).not.toContain('no worker is alive');
    expect(await readdir(home)).toEqual(['scan.json', 'sluice.yaml']);

    const own = await ensurePrivateRedis({ dir: join(home, '.sluice'), env: process.env });
    if ('unavailable' in own) throw new Error(own.unavailable);
    try {
      const added = await runSluice(['tool', 'add', 'scan.json', '--config', 'sluice.yaml'], { cwd: home });
      expect(added.stderr).not.toContain('refused');
      const lines = told(await doctor());
      expect(lines).toEqual(
        expect.arrayContaining([
          `ok: no Redis is set; the private one of this folder runs on port ${own.port}`,
          expect.stringContaining('warn: sandbox: off in the settings'),
          expect.stringContaining('fail: plans.require_enforced in the settings'),
          expect.stringContaining('warn: worker.runner_concurrency is 0 in the settings'),
          'ok: no worker is alive on this Redis',
          'warn: mcp:typo is served neither here nor by a living worker; needed by local/scan',
        ]),
      );
    } finally {
      await own.release();
    }
  }, 60_000);

  it('reports a folder that cannot be written', async () => {
    const file = join(base, 'file');
    await writeFile(file, '');
    expect(of(await runDoctor({ dir: file }), 'disk')).toEqual([expect.objectContaining({ status: 'fail' })]);
  });
});
