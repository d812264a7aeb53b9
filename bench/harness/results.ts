import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Before, Machine } from './machine.js';
import type { Size } from './place.js';
import type { LineResult } from './row.js';

/** Shape of the files; a file of another shape is not read. */
const FORMAT = 1;

/** One run of the bench, as it is kept. */
export interface Results {
  format: typeof FORMAT;
  /** When it began, ISO 8601. */
  at: string;
  size: Size;
  seconds: number;
  machine: Machine;
  before: Before;
  rows: LineResult[];
}

/** A kept result and its file's name. */
export interface Kept {
  name: string;
  results: Results;
}

export const FOLDER = fileURLToPath(new URL('../results', import.meta.url));

export function keep(results: Omit<Results, 'format'>, folder = FOLDER): string {
  mkdirSync(folder, { recursive: true });
  const suffix = results.size === 'full' ? '' : `-${results.size}`;
  const name = `${results.at.replaceAll(':', '-').slice(0, 19)}${suffix}.json`;
  writeFileSync(join(folder, name), `${JSON.stringify({ format: FORMAT, ...results }, null, 2)}\n`);
  return name;
}

/** Reads one result: a path, or a name in the folder. Throws what is wrong with it, in one sentence. */
export function readKept(given: string, folder = FOLDER): Kept {
  const text = [given, join(folder, given)].map(textOf).find((found) => found !== undefined);
  if (text === undefined) throw new Error(`There is no result ${given}.`);
  let results: Partial<Results>;
  try {
    results = JSON.parse(text) as Partial<Results>;
  } catch {
    throw new Error(`${given} is no JSON.`);
  }
  if (results?.format !== FORMAT || !Array.isArray(results.rows))
    throw new Error(`${given} is no result of this bench.`);
  return { name: basename(given), results: results as Results };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Names of the results of this bench in the folder, the oldest first. */
export function keptNames(folder = FOLDER): string[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
  return names.sort().filter((name) => {
    try {
      readKept(name, folder);
      return true;
    } catch {
      return false;
    }
  });
}
