import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type DoctorCheck, type Finding, fail, ok, warn } from '../check.js';

const MIB = 1024 * 1024;
const ENOUGH_MIB = 1024;
const TOO_LITTLE_MIB = 64;

/** What free space means for the private Redis, in MiB. */
export function judgeSpace(dir: string, freeMib: number): Finding {
  const found = `${dir} can be written, ${freeMib} MiB free`;
  if (freeMib < TOO_LITTLE_MIB)
    return fail(found, 'Free some space: the private Redis will refuse to write.');
  if (freeMib < ENOUGH_MIB) return warn(found, 'Large batches need more, until retention removes them.');
  return ok(found);
}

/** The folder itself, or the nearest above that exists: looking must not create anything. */
async function existing(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const info = await stat(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && dirname(folder) !== folder) return undefined;
      throw error;
    });
    if (info?.isDirectory()) return folder;
    if (info !== undefined) throw new Error(`${folder} is not a folder`);
  }
}

export const diskCheck: DoctorCheck = {
  name: 'disk',
  async run({ dir }) {
    try {
      const folder = await existing(resolve(dir));
      await access(folder, constants.W_OK | constants.X_OK);
      const { bavail, bsize } = await statfs(folder);
      return [judgeSpace(dir, Math.floor((bavail * bsize) / MIB))];
    } catch (error) {
      return [
        fail(`${dir} cannot be written: ${(error as Error).message}`, 'Choose another folder, or make room.'),
      ];
    }
  },
};
