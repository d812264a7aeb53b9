import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorReport } from '../../src/doctor/check.js';
import { runDoctor } from '../../src/doctor/run.js';
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

  it('reports a folder that cannot be written', async () => {
    const file = join(base, 'file');
    await writeFile(file, '');
    expect(of(await runDoctor({ dir: file }), 'disk')).toEqual([expect.objectContaining({ status: 'fail' })]);
  });
});
