import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DoctorCheck, type Finding, fail, ok, warn } from '../check.js';

const MIB = 1024 * 1024;
const ENOUGH_MIB = 1024;
const TOO_LITTLE_MIB = 64;

/** What free space means for the private Redis, in MiB. */
export function judgeSpace(dir: string, freeMib: number): Finding {
  const found = `${dir} is writable, ${freeMib} MiB free`;
  if (freeMib < TOO_LITTLE_MIB)
    return fail(found, 'Free some space: the private Redis will refuse to write.');
  if (freeMib < ENOUGH_MIB) return warn(found, 'Large batches need more, until retention removes them.');
  return ok(found);
}

export const diskCheck: DoctorCheck = {
  name: 'disk',
  async run({ dir }) {
    const trial = join(dir, `doctor-${process.pid}`);
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await writeFile(trial, 'x'.repeat(4_096));
      await rm(trial);
      const { bavail, bsize } = await statfs(dir);
      return [judgeSpace(dir, Math.floor((bavail * bsize) / MIB))];
    } catch (error) {
      await rm(trial, { force: true }).catch(() => {});
      return [
        fail(`${dir} cannot be written: ${(error as Error).message}`, 'Choose another folder, or make room.'),
      ];
    }
  },
};
