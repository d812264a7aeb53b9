import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
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
const RUN_FILE_ENDINGS = ['.json', '.jsonl', '.ndjson', '.traj'] as const;

function isRunFile(name: string): boolean {
  const wanted: readonly string[] = RUN_FILE_ENDINGS;
  return wanted.includes(extname(name).toLowerCase()) && name.toLowerCase() !== 'scenario.json';
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type Found = RunSource | { problem: Problem };

async function* walk(folder: string, above: readonly string[]): AsyncGenerator<Found> {
  let names: string[];
  let real: string;
  try {
    real = await realpath(folder);
    names = await readdir(folder);
  } catch (error) {
    yield { problem: { file: folder, path: '', message: readFailure(error) } };
    return;
  }
  if (above.includes(real)) return;
  for (const name of names.sort(byCodeUnit)) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    const path = join(folder, name);
    const info = await stat(path).catch((error: unknown) => readFailure(error));
    if (typeof info === 'string') {
      if (isRunFile(name)) yield { problem: { file: path, path: '', message: info } };
    } else if (info.isDirectory()) {
      yield* walk(path, [...above, real]);
    } else if (info.isFile() && isRunFile(name)) {
      yield { file: path, path };
    }
  }
}

async function* expandFolder(folder: string): AsyncGenerator<Found> {
  let any = false;
  for await (const found of walk(folder, [])) {
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
 * name in the order of code units, without hidden ones, `node_modules` and `scenario.json`).
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
