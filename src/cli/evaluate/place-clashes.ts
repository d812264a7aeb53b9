import { fstat, type Stats } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Problem } from '../../core/problem.js';
import { expandSources, isReadBelow } from '../../inputs/run-sources.js';
import type { LoadedScenario } from '../../inputs/scenario-files.js';

/** A file that the batch is to write: a report's, or that of a sink. */
export interface WrittenFile {
  /** Where it was given: `--report`, `--sink` or `sinks[n]`. */
  path: string;
  /** As it was given, `KIND=FILE`. */
  option: string;
  file: string;
}

/** What the batch reads. */
export interface BatchInputs {
  /** As given: files or folders. */
  scenarios: readonly string[];
  loaded: readonly LoadedScenario[];
  /** As given: files, folders or `-`. */
  runs: readonly string[];
  config: string | undefined;
}

/** A file under one name, however it is spelt: links, `./`, absolute or not. */
interface Place {
  real: string;
  /** Device and number of a file that exists, so that hard links are one. */
  id: string;
  exists: boolean;
}

const MOST_LINKS = 40;

async function realPath(file: string, links = 0): Promise<string> {
  const found = await realpath(file).catch(() => undefined);
  if (found !== undefined) return found;
  const folder = await realpath(dirname(resolve(file))).catch(() => dirname(resolve(file)));
  const path = join(folder, basename(file));
  const target = links < MOST_LINKS ? await readlink(path).catch(() => undefined) : undefined;
  return target === undefined ? path : realPath(resolve(folder, target), links + 1);
}

const idOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;

/** undefined for what is no regular file: a device or a pipe takes what several write. */
async function placeOf(file: string): Promise<Place | undefined> {
  const real = await realPath(file);
  const info = await stat(real).catch(() => undefined);
  if (info === undefined) return { real, id: real, exists: false };
  return info.isFile() ? { real, id: idOf(info), exists: true } : undefined;
}

async function standardInput(): Promise<string | undefined> {
  const info = await promisify(fstat)(0).catch(() => undefined);
  return info?.isFile() ? idOf(info) : undefined;
}

/** Ids of the files that the batch reads, and what each is. */
async function inputIds({ scenarios, loaded, runs, config }: BatchInputs): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const note = async (file: string, what: string) => {
    const place = await placeOf(file);
    if (place?.exists) ids.set(place.id, what);
  };
  for await (const found of expandSources(runs)) {
    if ('problem' in found) continue;
    if (found.path !== '-') await note(found.path, 'a file of runs');
    else {
      const id = await standardInput();
      if (id !== undefined) ids.set(id, 'the runs on standard input');
    }
  }
  for (const file of [...scenarios, ...loaded.map((one) => one.file)]) await note(file, 'a scenario');
  if (config !== undefined) await note(config, 'the settings');
  return ids;
}

/** Why a file must not appear in a folder that is read: the same call would read it the next time. */
async function folderClash({ real }: Place, { loaded, runs }: BatchInputs): Promise<string | undefined> {
  for (const name of runs) {
    const root = name === '-' ? undefined : await realpath(name).catch(() => undefined);
    if (root !== undefined && isReadBelow(root, real))
      return `lies in the folder of runs ${name}, and would be read as runs by the next call`;
  }
  for (const { scenario, file, bundle } of loaded) {
    if (bundle === undefined) continue;
    const root = await realpath(dirname(resolve(file))).catch(() => dirname(resolve(file)));
    const inside = real.startsWith(root + sep) ? real.slice(root.length + 1).split(sep) : ['.'];
    if (!inside.some((name) => name.startsWith('.') || name === 'node_modules'))
      return `lies among the files that travel with the scenario ${scenario.key}`;
  }
  return undefined;
}

/** Files that would destroy or become what the batch reads, or that two would write. */
export async function placeClashes(written: readonly WrittenFile[], inputs: BatchInputs): Promise<Problem[]> {
  const places: { of: WrittenFile; place: Place }[] = [];
  for (const of of written) {
    const place = await placeOf(of.file);
    if (place !== undefined) places.push({ of, place });
  }
  if (places.length === 0) return [];
  const read = await inputIds(inputs);
  const taken = new Map<string, WrittenFile>();
  const problems: Problem[] = [];
  for (const { of, place } of places) {
    const at = { path: of.path, found: of.option };
    const input = read.get(place.id);
    const clash = input === undefined ? await folderClash(place, inputs) : `is an input: ${input}`;
    const other = taken.get(place.id);
    if (clash !== undefined) problems.push({ ...at, message: clash });
    else if (other !== undefined)
      problems.push({ ...at, message: `writes to the same file as ${other.path} ${other.option}` });
    taken.set(place.id, other ?? of);
  }
  return problems;
}
