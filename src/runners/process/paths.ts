import { type Stats, statSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RunFailure } from '../../core/validators/validator.js';

/** A file or folder of the host as a run sees it. */
export interface HostPath {
  /** As declared, without `.`, `..` and a slash at its end. */
  given: string;
  /** Where it really is. */
  real: string;
}

/** Of no run's business, nor is anything in them. */
const CLOSED = ['/proc', '/sys', '/dev', '/run', '/var/run'];
/** Every run has its own. */
const PRIVATE = ['/tmp', '/var/tmp'];

/** Whether `path` is `folder` or lies in it; both absolute and plain. */
export function liesIn(folder: string, path: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

function refused(path: string, why: string): RunFailure {
  return { kind: 'failure', reason: 'path_refused', message: `the path ${path} is refused: ${why}` };
}

/** Why a real path must not be bound; undefined: it may. */
function closed(real: string): string | undefined {
  if (real === '/') return 'it is the whole host; declare what the tool reads';
  const own = PRIVATE.find((folder) => liesIn(real, folder));
  if (own !== undefined) return `every run has ${own} of its own; declare a folder in it`;
  const inside = CLOSED.find((folder) => liesIn(folder, real) || liesIn(real, folder));
  return inside === undefined ? undefined : `nothing of ${inside} is given to tools`;
}

/** A sandbox that is another user than the worker reads what everybody may. */
function unreadable(found: Stats, asStranger: boolean): string | undefined {
  if (!asStranger) return undefined;
  const needed = found.isDirectory() ? 0o005 : 0o004;
  if ((found.mode & needed) === needed) return undefined;
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  return `its mode ${mode} keeps others out, and the tools of a worker that is root are others; open it to them, or run the worker as its owner`;
}

/** Why tools are not given what is really at `real`, whether anything is there or not. */
function outOfReach(real: string, allowed: readonly string[]): string | undefined {
  const why = closed(real);
  if (why !== undefined || allowed.some((folder) => liesIn(folder, real))) return why;
  return `the operator allows paths in ${allowed.join(', ')} (runners.paths)`;
}

/** Where a path that is not there would be. */
async function placeOf(path: string): Promise<string> {
  return realpath(path).catch(async () => join(await placeOf(dirname(path)), basename(path)));
}

/** Where a tool must not look, it is not told what is there. */
async function absent(path: string, given: string, allowed: readonly string[]): Promise<RunFailure> {
  const why = outOfReach(await placeOf(given), allowed);
  if (why !== undefined) return refused(path, why);
  const message = `the declared path ${path} is not there on this worker`;
  return { kind: 'failure', reason: 'path_refused', message };
}

async function checked(
  path: string,
  allowed: readonly string[],
  asStranger: boolean,
): Promise<HostPath | RunFailure> {
  if (!path.startsWith('/') || path.includes('\0')) return refused(path, 'it is not absolute');
  const given = path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
  try {
    const real = await realpath(given);
    const why = outOfReach(real, allowed);
    if (why !== undefined) return refused(path, why);
    const found = await stat(real);
    if (!found.isFile() && !found.isDirectory()) return refused(path, 'it is neither file nor folder');
    const kept = unreadable(found, asStranger);
    return kept === undefined ? { given, real } : refused(path, kept);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return absent(path, given, allowed);
    return refused(path, message);
  }
}

async function realFolders(folders: readonly string[]): Promise<string[]> {
  return Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
}

/**
 * The declared paths as they are bound, parents first; or the failure of the first that must not be, or
 * that is not there. Links are followed before it is decided whether a path lies in `allowed`.
 */
export async function hostPaths(
  declared: readonly string[],
  allowed: readonly string[],
  asStranger: boolean,
): Promise<HostPath[] | RunFailure> {
  if (declared.length === 0) return [];
  const folders = await realFolders(allowed);
  const found: HostPath[] = [];
  for (const path of new Set(declared)) {
    const one = await checked(path, folders, asStranger);
    if ('kind' in one) return one;
    found.push(one);
  }
  return found.sort((a, b) => a.real.length - b.real.length);
}

/** Whether it is there, whatever it is. */
export function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
