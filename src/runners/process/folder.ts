import { rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { FOLDER_PREFIX, OWNER } from './owner.js';

/** Whether a path stays in the folder that it is put into. */
export function isInside(path: string): boolean {
  if (path === '' || path.includes('\0') || posix.isAbsolute(path)) return false;
  return !path.split('/').includes('..') && posix.normalize(path) !== '.';
}

/** The first path that would leave the folder. */
export function strayFile(files: ReadonlyMap<string, unknown> | undefined): string | undefined {
  return [...(files?.keys() ?? [])].find((path) => !isInside(path));
}

async function fill(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const [path, content] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    // Whatever the umask is: the sandbox may read it as another user.
    await chmod(file, 0o755);
    for (let each = dirname(file); each !== folder; each = dirname(each)) await chmod(each, 0o755);
  }
}

export interface PrivateFolder {
  /** Has the files in it. */
  work: string;
  /** Empty, and apart from `work`. */
  home: string;
  /** For temporary files. */
  temporary: string;
  /** File for its standard input, where there is any. */
  input: string;
  remove(): Promise<void>;
  /** The same, at once. */
  removeNow(): void;
}

/** Those of ended runs that could not be removed, as when no descriptor was left to look into them. */
const unremoved = new Set<string>();

/** Never rejects: what stays is tried again when the next one goes. */
async function remove(folder: string): Promise<void> {
  unremoved.add(folder);
  for (const each of [...unremoved]) {
    await rm(each, { recursive: true, force: true, maxRetries: 3 }).then(
      () => unremoved.delete(each),
      () => undefined,
    );
  }
}

/** A folder for one run, which this user alone may enter. */
export async function privateFolder(
  files?: ReadonlyMap<string, Uint8Array>,
  stdin?: string,
): Promise<PrivateFolder> {
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${OWNER}-`));
  try {
    const [work, home, temporary] = [join(folder, 'work'), join(folder, 'home'), join(folder, 'tmp')];
    const input = join(folder, 'stdin');
    for (const each of [work, home, temporary]) await mkdir(each);
    await chmod(work, 0o755);
    if (files !== undefined) await fill(work, files);
    if (stdin !== undefined) await writeFile(input, stdin);
    return {
      work,
      home,
      temporary,
      input,
      remove: () => remove(folder),
      removeNow: () => rmSync(folder, { recursive: true, force: true }),
    };
  } catch (error) {
    await remove(folder);
    throw error;
  }
}
