import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Problem } from '../core/problem.js';

type Kind = 'folder' | 'other' | 'nothing' | { code: string };

async function kindOf(path: string): Promise<Kind> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return code === 'ENOENT' ? 'nothing' : { code };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'lies below something that is no folder',
  ENAMETOOLONG: 'has a name that is too long',
  ELOOP: 'is a link that leads in a circle',
  EACCES: 'cannot be written: permission denied',
};

/**
 * Why a file cannot be written, found without touching it; undefined when nothing speaks against it.
 * Missing folders are not made: a slip in a path would scatter them. The option is `KIND=FILE`.
 */
export async function unwritable(option: string, kind: string, file: string): Promise<Problem | undefined> {
  const problem = (message: string): Problem => ({ path: option, message, found: `${kind}=${file}` });
  if (file.includes('\u0000')) return problem('is no name of a file');
  const path = resolve(file);
  const there = await kindOf(path);
  if (there === 'folder' || file.endsWith('/')) return problem('names a folder, not a file');
  if (typeof there === 'object') return problem(REASONS[there.code] ?? `cannot be written: ${there.code}`);
  const folder = dirname(path);
  const above = await kindOf(folder);
  if (above === 'nothing') return problem('lies in a folder that does not exist');
  if (above !== 'folder') return problem('lies below something that is no folder');
  return access(there === 'other' ? path : folder, constants.W_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) =>
      problem(
        error.code === 'EROFS' ? 'cannot be written: read-only' : 'cannot be written: permission denied',
      ),
  );
}
