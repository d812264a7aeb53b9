import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FOLDER_PREFIX, isOrphan } from './owner.js';
import { marks, send } from './tree.js';

let swept: Promise<void> | undefined;

/** Ends and removes, once, what workers left that were killed. */
export function sweptOnce(): Promise<void> {
  swept ??= sweep(tmpdir()).catch(() => undefined);
  return swept;
}

/** Runs whose worker is gone, and their folders in this one. */
export async function sweep(folder: string): Promise<void> {
  send(
    'SIGKILL',
    [...marks()].filter(([, mark]) => isOrphan(mark)).map(([pid]) => pid),
  );
  for (const name of await readdir(folder)) {
    if (!name.startsWith(FOLDER_PREFIX) || !isOrphan(name.slice(FOLDER_PREFIX.length))) continue;
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
