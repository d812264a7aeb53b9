import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { sha256 } from '../core/digest.js';
import { canonicalJson } from '../core/json.js';
import type { Problem } from '../core/problem.js';
import {
  MOST_BUNDLE_BYTES,
  MOST_BUNDLE_FILES,
  missingFiles,
  type NeededFile,
} from '../core/scenario/bundle.js';
import type { Bundle } from '../ports/runner.js';
import { readFailure } from './text.js';

/** A bundle as it is stored: canonical JSON of `Bundle`, and the SHA-256 of that. */
export interface StoredBundle {
  digest: string;
  json: string;
}

class Refused extends Error {}

/** Whether a real path is a folder's own, or lies in it; both without links on the way. */
export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

interface Walk {
  root: string;
  files: Map<string, Buffer>;
  bytes: number;
}

async function addFile(walk: Walk, path: string, size: number, name: string): Promise<void> {
  if (walk.files.size >= MOST_BUNDLE_FILES) {
    throw new Refused(
      `its folder holds more than ${MOST_BUNDLE_FILES} files, which is more than a bundle takes`,
    );
  }
  walk.bytes += size;
  const limit = MOST_BUNDLE_BYTES / 2 ** 20;
  if (walk.bytes > MOST_BUNDLE_BYTES) {
    throw new Refused(`its folder holds more than ${limit} MiB, which is more than a bundle takes`);
  }
  walk.files.set(name, await readFile(path));
}

async function addFolder(
  walk: Walk,
  folder: string,
  prefix: string,
  above: readonly string[],
): Promise<void> {
  const names = await readdir(folder);
  if (prefix !== '' && names.includes('scenario.json')) return;
  for (const name of names.sort()) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    const path = join(folder, name);
    const inside = prefix + name;
    const real = await realpath(path).catch((error: unknown) => {
      throw new Refused(`${inside} ${readFailure(error)}`);
    });
    if (!isInside(walk.root, real)) {
      throw new Refused(`${inside} is a symbolic link that leaves the scenario's folder`);
    }
    const info = await stat(real);
    if (info.isFile()) await addFile(walk, real, info.size, inside);
    else if (info.isDirectory() && !above.includes(real)) {
      await addFolder(walk, path, `${inside}/`, [...above, real]);
    }
  }
}

/**
 * The files of a scenario's folder for its ansible rules (DESIGN 3.3): all regular files but hidden
 * ones, `node_modules` and the folders of other scenarios. Problems when a limit is passed, a link
 * leaves the folder, or a playbook or inventory that a rule names is not there.
 */
export async function bundleFiles(
  file: string,
  folder: string,
  needed: readonly NeededFile[],
): Promise<{ bundle: StoredBundle } | { problems: Problem[] }> {
  let walk: Walk;
  try {
    const root = await realpath(folder);
    walk = { root, files: new Map(), bytes: 0 };
    await addFolder(walk, root, '', [root]);
  } catch (error) {
    const message = error instanceof Refused ? error.message : `the files beside it: ${readFailure(error)}`;
    return { problems: [{ file, path: '', message }] };
  }
  const names = new Set(walk.files.keys());
  const missing = missingFiles(needed, names, "is not a file of the scenario's folder");
  const problems = missing.map((problem) => ({ file, ...problem }));
  if (problems.length > 0) return { problems };
  const entries = [...walk.files].map(([name, bytes]) => [name, bytes.toString('base64')] as const);
  const bundle: Bundle = { files: Object.fromEntries(entries) };
  const json = canonicalJson(bundle);
  return { bundle: { digest: sha256(json), json } };
}
