import { createReadStream, type Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, extname, join, sep } from 'node:path';
import type { Problem } from '../core/problem.js';
import { readFailure } from './text.js';

/** One file of runs. */
export interface RunSource {
  /** As the user named it, or reached through the folder that the user named; `-` for standard input. */
  file: string;
  /** Where to read it; `-` for standard input. */
  path: string;
}

/** Endings of the files that a folder gives. */
export const RUN_FILE_ENDINGS = ['.json', '.jsonl', '.ndjson', '.traj'] as const;

/** Whether a folder of runs gives a file of this name. */
export function isRunFile(name: string): boolean {
  const wanted: readonly string[] = RUN_FILE_ENDINGS;
  return wanted.includes(extname(name).toLowerCase()) && name.toLowerCase() !== 'scenario.json';
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const isPassedOver = (name: string) => name.startsWith('.') || name === 'node_modules';

const isBelow = (folder: string, path: string) =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Names on the way from a folder to what lies below it; undefined when it does not. Real paths. */
function namesBelow(folder: string, path: string): string[] | undefined {
  return isBelow(folder, path) ? path.slice(folder.length).split(sep).filter(Boolean) : undefined;
}

function isReached(folder: string, path: string): boolean {
  return namesBelow(folder, path)?.some(isPassedOver) === false;
}

/** Whether a folder of runs gives the file at this path, were it there. Both are real paths. */
export function isReadBelow(folder: string, path: string): boolean {
  return isReached(folder, path) && isRunFile(basename(path));
}

type Found = RunSource | { problem: Problem };

const OUTSIDE = 'is a link to a folder outside; name that folder itself';

/** A link in a folder of runs: what the walk reaches anyway is read once, and no link leads out of it. */
async function* linked(root: string, path: string, isFolder: boolean): AsyncGenerator<Found> {
  const real = await realpath(path).catch(() => path);
  if (isFolder) {
    const known = real === root || isBelow(real, root) || isReached(root, real);
    if (!known) yield { problem: { file: path, path: '', message: OUTSIDE } };
  } else if (!isReadBelow(root, real)) yield { file: path, path };
}

async function* walk(root: string, folder: string): AsyncGenerator<Found> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    yield { problem: { file: folder, path: '', message: readFailure(error) } };
    return;
  }
  for (const entry of entries.sort((a, b) => byCodeUnit(a.name, b.name))) {
    const { name } = entry;
    if (isPassedOver(name)) continue;
    const path = join(folder, name);
    const info = await stat(path).catch((error: unknown) => readFailure(error));
    if (typeof info === 'string') {
      if (isRunFile(name)) yield { problem: { file: path, path: '', message: info } };
      continue;
    }
    if (!info.isDirectory() && !(info.isFile() && isRunFile(name))) continue;
    if (entry.isSymbolicLink()) {
      yield* linked(root, path, info.isDirectory());
    } else if (info.isDirectory()) {
      yield* walk(root, path);
    } else yield { file: path, path };
  }
}

async function* expandFolder(folder: string): AsyncGenerator<Found> {
  let any = false;
  for await (const found of walk(await realpath(folder).catch(() => folder), folder)) {
    any = true;
    yield found;
  }
  if (!any) {
    const message = 'holds no files of runs';
    yield { problem: { file: folder, path: '', message, allowed: RUN_FILE_ENDINGS.map((e) => `*${e}`) } };
  }
}

/**
 * The files behind the given names, in order: a folder gives its run files (and those below, name by
 * name in the order of code units, without hidden ones, `node_modules` and `scenario.json`). Links to
 * folders are not followed: one that leads out of the folder is a problem.
 */
export async function* expandSources(sources: Iterable<string | RunSource>): AsyncGenerator<Found> {
  let stdin = false;
  for (const source of sources) {
    const { file, path } = typeof source === 'string' ? { file: source, path: source } : source;
    if (path === '-') {
      if (stdin) yield { problem: { file, path: '', message: 'standard input can be read only once' } };
      else yield { file, path };
      stdin = true;
      continue;
    }
    const info = await stat(path).catch((error: unknown) => readFailure(error));
    if (typeof info === 'string') yield { problem: { file, path: '', message: info } };
    else if (info.isDirectory()) yield* expandFolder(path);
    else if (info.isFile() || info.isFIFO()) yield { file, path };
    else yield { problem: { file, path: '', message: 'is a device or a socket, not a file' } };
  }
}

/** The bytes of a source; whoever asked destroys the stream. */
export function openSource(source: RunSource, stdin: NodeJS.ReadableStream): NodeJS.ReadableStream {
  return source.path === '-' ? stdin : createReadStream(source.path, { highWaterMark: 256 * 1024 });
}
