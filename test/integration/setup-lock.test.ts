import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withLock } from '../../scripts/lib/lock.mjs';

let base: string;
let file: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sluice-lock-'));
  file = join(base, 'folder', 'x.lock');
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('the lock of the set-up', () => {
  it('lets one in at a time, and all of them in the end', async () => {
    let inside = 0;
    let most = 0;
    const enter = () =>
      withLock(file, async () => {
        most = Math.max(most, ++inside);
        await new Promise(setImmediate);
        inside--;
      });
    await Promise.all(Array.from({ length: 5 }, enter));
    expect(most).toBe(1);
    expect(existsSync(file)).toBe(false);
  });

  it('is free again after work that failed', async () => {
    await expect(withLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withLock(file, () => 'in')).toBe('in');
  });

  it('takes over what a dead process held', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    await withLock(file, () => undefined);
    writeFileSync(file, String(pid));
    expect(await withLock(file, () => 'in')).toBe('in');
  });
});
