import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Folders in which this process looks for programs, absolute ones alone. */
export function pathFolders(): string[] {
  const folders = (process.env.PATH || USUAL_PATH).split(delimiter);
  return [...new Set(folders.filter((folder) => folder.startsWith('/')))];
}

/** Whether it is a file that this process may execute. */
export function isProgram(file: string): boolean {
  try {
    if (!statSync(file).isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The first program of that name in these folders. */
export function findIn(folders: readonly string[], name: string): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** Whether a program of that name is in PATH. */
export function inPath(name: string): boolean {
  return findIn(pathFolders(), name) !== undefined;
}
