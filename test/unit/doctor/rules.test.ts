import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeSpace } from '../../../src/doctor/checks/disk.js';
import { isSupportedNode } from '../../../src/doctor/checks/node.js';
import { judgeRedis } from '../../../src/doctor/checks/redis.js';
import { DOCTOR_CHECKS } from '../../../src/doctor/registry.js';
import { ROOT } from '../../support/cli.js';

const good = {
  version: '7.0.15',
  address: '-h 10.0.0.5 -p 6380',
  policy: 'noeviction',
  appendonly: 'yes',
  appendfsync: 'always',
};

describe('a Redis', () => {
  it.each([
    ['everything in order', {}, ['ok', 'ok', 'ok']],
    ['the oldest version that works', { version: '6.2.0' }, ['ok', 'ok', 'ok']],
    ['a version that BullMQ cannot use', { version: '6.0.16' }, ['fail', 'ok', 'ok']],
    ['eviction', { policy: 'allkeys-lru' }, ['ok', 'fail', 'ok']],
    ['no append-only file', { appendonly: 'no' }, ['ok', 'ok', 'warn']],
    ['an append-only file every second', { appendfsync: 'everysec' }, ['ok', 'ok', 'ok']],
    ['an append-only file at leisure', { appendfsync: 'no' }, ['ok', 'ok', 'warn']],
    ['settings that may not be read', { policy: undefined, appendonly: undefined }, ['ok', 'warn', 'warn']],
  ])('with %s', (_what, difference, statuses) => {
    expect(judgeRedis({ ...good, ...difference }).map((finding) => finding.status)).toEqual(statuses);
  });

  it('that evicts is told the command that ends it, with its address', () => {
    const [, eviction] = judgeRedis({ ...good, policy: 'allkeys-lru' });
    expect(eviction?.advice).toContain(
      'redis-cli -h 10.0.0.5 -p 6380 CONFIG SET maxmemory-policy noeviction',
    );
  });

  it('is told what a crash can lose', () => {
    const [, , durability] = judgeRedis({ ...good, appendfsync: 'everysec' });
    expect(durability?.advice).toMatch(/two seconds/);
  });
});

describe('Node', () => {
  it.each([
    ['v18.19.0', false],
    ['20.19.9', false],
    ['v20.20.0', true],
    ['22.0.0', true],
  ])('%s is supported: %s', (version, supported) => {
    expect(isSupportedNode(version)).toBe(supported);
  });
});

describe('free space', () => {
  it.each([
    [10, 'fail'],
    [500, 'warn'],
    [5_000, 'ok'],
  ] as const)('of %i MiB is %s', (free, status) => {
    expect(judgeSpace('.sluice', free).status).toBe(status);
  });
});

describe('the registry', () => {
  it('has one entry for every file of checks', () => {
    const files = readdirSync(join(ROOT, 'src/doctor/checks')).map((file) => file.replace(/\.ts$/, ''));
    expect(DOCTOR_CHECKS.map((check) => check.name).sort()).toEqual(files.sort());
  });
});
