import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isPlainObject } from '../core/json.js';
import { jsonPath } from '../core/json-path.js';
import { type Problem, show } from '../core/problem.js';
import { filePathProblem, MOST_FILE_BYTES, MOST_FILES } from '../core/registry/files.js';
import { normalBundlePath } from '../core/validators/bundle-path.js';
import { isInside } from './bundle-files.js';
import type { InputCode } from './codes.js';
import { contentOf, type FileContent } from './folder-snapshot.js';
import { readFailure } from './text.js';

type Read = { content: FileContent; bytes: number } | { message: string };

/** A file that a document lists, which must lie in the document's folder, links followed. */
async function readListed(root: string, path: string, left: number): Promise<Read> {
  const problem = filePathProblem(path);
  if (problem !== undefined)
    return { message: problem.replace('the working folder', 'the folder of its document') };
  try {
    const real = await realpath(join(root, path));
    if (!isInside(root, real))
      return { message: 'is a symbolic link that leaves the folder of its document' };
    const info = await stat(real);
    if (info.isDirectory()) return { message: 'is a folder; list its files' };
    if (!info.isFile()) return { message: 'is a device, a pipe or a socket, not a file' };
    const tooLarge = {
      message: `is too much: the files of a document have at most ${MOST_FILE_BYTES / 2 ** 20} MiB together`,
    };
    if (info.size > left) return tooLarge;
    const bytes = await readFile(real);
    return bytes.length > left ? tooLarge : { content: contentOf(bytes), bytes: bytes.length };
  } catch (error) {
    return { message: readFailure(error) };
  }
}

/**
 * A document with the content of the files that it lists by their paths, which are relative to its own
 * file; one that lists none is given back as it is. Problems are without place but for their path.
 */
export async function withListedFiles(
  file: string,
  value: unknown,
): Promise<{ value: unknown } | { problems: Problem[] }> {
  if (!isPlainObject(value) || !Array.isArray(value.files)) return { value };
  const problems: Problem[] = [];
  const refuse = (message: string, path: PropertyKey[], found?: string) =>
    problems.push({
      code: 'BAD_FILE' satisfies InputCode,
      path: jsonPath(path),
      message,
      ...(found === undefined ? {} : { found }),
    });
  if (value.files.length > MOST_FILES) refuse(`must list at most ${MOST_FILES} files`, ['files']);
  const root = await realpath(dirname(file)).catch((error: unknown) => {
    refuse(`cannot be read: its folder ${readFailure(error)}`, ['files']);
    return undefined;
  });
  if (root === undefined || problems.length > 0) return { problems };
  const files = new Map<string, FileContent>();
  let left = MOST_FILE_BYTES;
  for (const [n, path] of value.files.entries()) {
    const at = ['files', n];
    if (typeof path !== 'string') refuse('must be the path of a file', at, show(path));
    else if (files.has(normalBundlePath(path))) refuse('is listed twice', at, show(path));
    else {
      const read = await readListed(root, path, left);
      if ('message' in read) refuse(read.message, at, show(path));
      else {
        files.set(normalBundlePath(path), read.content);
        left -= read.bytes;
      }
    }
  }
  return problems.length > 0 ? { problems } : { value: { ...value, files: Object.fromEntries(files) } };
}
