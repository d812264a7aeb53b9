import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Problem } from '../core/problem.js';

async function kindOf(path: string): Promise<'folder' | 'other' | 'nothing'> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) return 'nothing';
  return info.isDirectory() ? 'folder' : 'other';
}

/** The nearest folder above that exists; undefined when something else stands in its place. */
async function existingFolder(path: string): Promise<string | undefined> {
  let folder = path;
  for (;;) {
    const kind = await kindOf(folder);
    if (kind === 'folder') return folder;
    if (kind === 'other' || dirname(folder) === folder) return undefined;
    folder = dirname(folder);
  }
}

/**
 * Why a file cannot be written, found without touching it; undefined when nothing speaks against it.
 * The option is `KIND=FILE`; `makesFolders`: missing folders will be made.
 */
export async function unwritable(
  option: string,
  kind: string,
  file: string,
  makesFolders: boolean,
): Promise<Problem | undefined> {
  const problem = (message: string): Problem => ({ path: option, message, found: `${kind}=${file}` });
  const path = resolve(file);
  const there = await kindOf(path);
  if (there === 'folder') return problem('names a folder, not a file');
  const folder = makesFolders ? await existingFolder(dirname(path)) : dirname(path);
  if (folder === undefined) return problem('lies below something that is no folder');
  if ((await kindOf(folder)) !== 'folder') return problem('lies in a folder that does not exist');
  const target = there === 'other' ? path : folder;
  return access(target, constants.W_OK).then(
    () => undefined,
    () => problem('cannot be written: permission denied'),
  );
}
