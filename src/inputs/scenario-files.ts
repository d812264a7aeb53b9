import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Problem, SluiceError } from '../core/problem.js';
import { loadScenario, neededFiles, type ScenarioSource, sealScenario } from '../core/scenario/load.js';
import type { Scenario } from '../core/scenario/model.js';
import { bundleFiles, type StoredBundle } from './bundle-files.js';
import { readText } from './read-text.js';
import { readFailure } from './text.js';

/** Size limit of a scenario file, in bytes. */
const MAX_SCENARIO_BYTES = 16 * 2 ** 20;

export interface LoadedScenario {
  scenario: Scenario;
  /** As the user named it, or below the folder that the user named. */
  file: string;
  /** The file names no key; it is the folder's name. */
  keyFromFolder?: true;
  /** Only when a rule needs the scenario's files. */
  bundle?: StoredBundle;
}

type Found = { file: string } | { problem: Problem };

/** Scenario files of a folder and those below it; each real folder once, so that links end. */
async function below(folder: string, seen: Set<string>): Promise<Found[]> {
  let entries: string[];
  let real: string;
  try {
    real = await realpath(folder);
    entries = (await readdir(folder)).sort();
  } catch (error) {
    return [{ problem: { file: folder, path: '', message: readFailure(error) } }];
  }
  if (seen.has(real)) return [];
  seen.add(real);
  const found: Found[] = [];
  if (entries.includes('scenario.json')) found.push({ file: join(folder, 'scenario.json') });
  for (const name of entries) {
    if (name.startsWith('.') || name === 'node_modules' || name === 'scenario.json') continue;
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (info?.isDirectory()) found.push(...(await below(path, seen)));
  }
  return found;
}

async function expand(path: string): Promise<Found[]> {
  const info = await stat(path).catch((error: unknown) => readFailure(error));
  if (typeof info === 'string') return [{ problem: { file: path, path: '', message: info } }];
  if (!info.isDirectory()) return [{ file: path }];
  const found = await below(path, new Set());
  if (found.length > 0) return found;
  return [{ problem: { file: path, path: '', message: 'holds no scenario.json, in it or below' } }];
}

/** Each file once, however many of the given paths reach it. */
async function scenarioFiles(paths: readonly string[]): Promise<{ files: string[]; problems: Problem[] }> {
  const files = new Map<string, string>();
  const problems: Problem[] = [];
  for (const path of paths) {
    for (const found of await expand(path)) {
      if ('problem' in found) problems.push(found.problem);
      else {
        const real = await realpath(found.file).catch(() => resolve(found.file));
        if (!files.has(real)) files.set(real, found.file);
      }
    }
  }
  return { files: [...files.values()], problems };
}

async function seal(
  file: string,
  source: ScenarioSource,
): Promise<{ loaded: LoadedScenario } | { problems: Problem[] }> {
  const needed = neededFiles(source);
  const keyed = source.keyFromFolder === true ? { file, keyFromFolder: true as const } : { file };
  if (needed.length === 0) return { loaded: { scenario: sealScenario(source), ...keyed } };
  const built = await bundleFiles(file, dirname(resolve(file)), needed);
  if ('problems' in built) return built;
  const { bundle } = built;
  return { loaded: { scenario: sealScenario(source, bundle.digest), ...keyed, bundle } };
}

async function loadFile(file: string): Promise<{ loaded: LoadedScenario } | { problems: Problem[] }> {
  const read = await readText(file, MAX_SCENARIO_BYTES);
  if ('message' in read) return { problems: [{ file, path: '', message: read.message }] };
  const defaultKey = basename(dirname(resolve(file)));
  const source = loadScenario({ file, text: read.text, defaultKey });
  return source.ok ? seal(file, source.scenario) : source;
}

function takenMessage(key: string, other: LoadedScenario, loaded: LoadedScenario): string {
  const advice =
    loaded.keyFromFolder === true || other.keyFromFolder === true
      ? `; key "${key}" comes from the folder's name; set "key" in the file`
      : '';
  return `the key "${key}" is taken by ${other.file}${advice}`;
}

/**
 * Loads scenarios from files and folders (a folder gives its scenario.json and those below it), with
 * the bundles that their rules need.
 * @throws SluiceError INVALID_SCENARIO with every problem of every file
 */
export async function loadScenarios(paths: readonly string[]): Promise<LoadedScenario[]> {
  const { files, problems } = await scenarioFiles(paths);
  const loaded: LoadedScenario[] = [];
  const byKey = new Map<string, LoadedScenario>();
  for (const file of files) {
    const result = await loadFile(file);
    if ('problems' in result) {
      problems.push(...result.problems);
      continue;
    }
    const { key } = result.loaded.scenario;
    const other = byKey.get(key);
    if (other !== undefined) {
      problems.push({ file, path: 'key', message: takenMessage(key, other, result.loaded) });
      continue;
    }
    byKey.set(key, result.loaded);
    loaded.push(result.loaded);
  }
  if (problems.length > 0) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    throw new SluiceError('INVALID_SCENARIO', `${count} in the scenarios`, problems);
  }
  if (loaded.length === 0) throw new SluiceError('INVALID_SCENARIO', 'no scenario was given');
  return loaded;
}
