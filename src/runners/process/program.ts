import { realpathSync } from 'node:fs';
import { posix } from 'node:path';
import type { RunFailure } from '../../core/validators/validator.js';
import { isInside } from './folder.js';
import { findIn, isProgram, pathFolders } from './look-up.js';
import { exists, liesIn } from './paths.js';

/** Where the program of a run is looked for. */
export interface Places {
  /** Its working folder, as it sees it. */
  work: string;
  /** What is in there. */
  files: ReadonlyMap<string, unknown> | undefined;
  /** PATH. */
  folders: readonly string[];
  /** Real files and folders of the host that it sees; undefined: all. */
  visible: readonly string[] | undefined;
}

function notFound(message: string): RunFailure {
  return { kind: 'failure', reason: 'not_found', message };
}

function sees({ visible }: Places, file: string): boolean {
  if (visible === undefined) return true;
  try {
    const real = realpathSync(file);
    return visible.some((folder) => liesIn(folder, real));
  } catch {
    return false;
  }
}

const outside = (name: string, file: string) =>
  notFound(
    `${name === file ? name : `${name} is ${file} on this worker, which`} is not shown by the sandbox; declare its folder under paths`,
  );

function byPath(name: string, places: Places): string | RunFailure {
  if (!posix.isAbsolute(name)) {
    const path = posix.normalize(name);
    if (!isInside(path) || places.files === undefined) {
      return notFound(`there is no program ${name}: a relative path is one of the files of the run`);
    }
    const has = [...places.files.keys()].some((file) => posix.normalize(file) === path);
    return has ? posix.join(places.work, path) : notFound(`there is no ${path} among the files of the run`);
  }
  if (!exists(name)) return notFound(`there is no program ${name} on this worker`);
  if (!sees(places, name)) return outside(name, name);
  if (isProgram(name)) return name;
  return { kind: 'failure', reason: 'not_started', message: `${name} is no file that may be executed` };
}

/** Absolute path of the program, as the run sees it, or why it cannot be run. */
export function programOf(name: string, places: Places): string | RunFailure {
  if (name.includes('/')) return byPath(name, places);
  const shown = places.folders.filter((folder) => sees(places, folder));
  const found = shown.map((folder) => findIn([folder], name)).find((file) => file && sees(places, file));
  if (found !== undefined) return found;
  const hidden = findIn([...shown, ...pathFolders()], name);
  return hidden === undefined
    ? notFound(`there is no program ${name === '' ? 'without a name' : name} in PATH on this worker`)
    : outside(name, hidden);
}
