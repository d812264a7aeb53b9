import { isUtf8 } from 'node:buffer';
import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { MOST_SNAPSHOT_BYTES } from '../core/snapshot.js';
import { isInside } from './bundle-files.js';
import { readFailure } from './text.js';

/** Most files, folders and links of one snapshot. */
const MAX_SNAPSHOT_ENTRIES = 10_000;
const MIB = 2 ** 20;

/** What changes without the work changing, so that no digest would ever be the same twice. */
const PASSED_BY: ReadonlySet<string> = new Set(['.git', '.sluice', 'node_modules']);

/** A file's text, or its bytes where they are none. */
export type FileContent = string | { base64: string };

export interface FolderSnapshot {
  files: Record<string, FileContent>;
}

class Refused extends Error {}

interface Walk {
  root: string;
  files: [path: string, content: FileContent][];
  /** Files, folders and links seen: links can lead to one folder in very many ways. */
  entries: number;
  bytes: number;
}

/** Bytes as text where they are UTF-8, a byte order mark included, so that no two files look alike. */
export function contentOf(bytes: Buffer): FileContent {
  const isText = isUtf8(bytes) && !bytes.includes(0);
  return isText ? bytes.toString('utf8') : { base64: bytes.toString('base64') };
}

async function addFile(walk: Walk, path: string, size: number, name: string): Promise<void> {
  const tooLarge = `holds more than ${MOST_SNAPSHOT_BYTES / MIB} MiB, which is more than a snapshot takes`;
  if (walk.bytes + size > MOST_SNAPSHOT_BYTES) throw new Refused(tooLarge);
  const bytes = await readFile(path);
  walk.bytes += bytes.length;
  if (walk.bytes > MOST_SNAPSHOT_BYTES) throw new Refused(tooLarge);
  walk.files.push([name, contentOf(bytes)]);
}

/** What a link leads to, which must lie in the folder. */
async function target(walk: Walk, path: string, inside: string): Promise<string> {
  const real = await realpath(path).catch((error) => refuse(error, inside));
  if (isInside(walk.root, real)) return real;
  throw new Refused(`${inside} is a symbolic link that leaves the folder`);
}

/** `path` and those `above` are real: without links on the way. */
async function addEntry(walk: Walk, path: string, inside: string, above: readonly string[]): Promise<void> {
  walk.entries += 1;
  if (walk.entries > MAX_SNAPSHOT_ENTRIES)
    throw new Refused(`holds more than ${MAX_SNAPSHOT_ENTRIES} files, which is more than a snapshot takes`);
  const info = await lstat(path).catch((error) => refuse(error, inside));
  if (info.isFile()) return addFile(walk, path, info.size, inside).catch((error) => refuse(error, inside));
  if (info.isDirectory()) return addFolder(walk, path, `${inside}/`, [...above, path]);
  if (!info.isSymbolicLink()) throw new Refused(`${inside} is a device, a pipe or a socket, not a file`);
  const real = await target(walk, path, inside);
  if (above.includes(real)) throw new Refused(`${inside} is a symbolic link to a folder that it lies in`);
  return addEntry(walk, real, inside, above);
}

function refuse(error: unknown, inside: string): never {
  throw error instanceof Refused ? error : new Refused(`${inside} ${readFailure(error)}`);
}

async function addFolder(
  walk: Walk,
  folder: string,
  prefix: string,
  above: readonly string[],
): Promise<void> {
  const names = await readdir(folder).catch((error) => refuse(error, prefix.slice(0, -1)));
  for (const name of names.sort()) {
    if (PASSED_BY.has(name)) continue;
    await addEntry(walk, join(folder, name), prefix + name, above);
  }
}

/**
 * Every file of a folder and those below it, hidden ones too, but none of `.git`, `.sluice` and
 * `node_modules`; or why there is no snapshot of it: a limit is passed, a link leads out of the folder,
 * something cannot be read.
 */
export async function folderSnapshot(
  folder: string,
): Promise<{ value: FolderSnapshot } | { message: string }> {
  try {
    const root = await realpath(folder);
    const walk: Walk = { root, files: [], entries: 0, bytes: 0 };
    await addFolder(walk, root, '', [root]);
    return { value: { files: Object.fromEntries(walk.files) } };
  } catch (error) {
    return { message: error instanceof Refused ? error.message : readFailure(error) };
  }
}
