import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { isRunFile } from './run-sources.js';

/** Files that are looked at before counting ends. */
const MOST_FILES = 100_000;

async function* filesBelow(folder: string): AsyncGenerator<string> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    if (entry.isDirectory()) yield* filesBelow(join(folder, entry.name));
    else if (entry.isFile()) yield entry.name;
  }
}

/**
 * Files of a folder of runs that are not read as runs, counted by ending; the empty ending for those
 * without one. Hidden files, `node_modules` and `scenario.json` are not runs anyway and not counted.
 */
export async function passedBy(folder: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let files = 0;
  for await (const name of filesBelow(folder)) {
    files += 1;
    if (files > MOST_FILES) break;
    if (isRunFile(name) || name.toLowerCase() === 'scenario.json') continue;
    const ending = extname(name).toLowerCase();
    counts.set(ending, (counts.get(ending) ?? 0) + 1);
  }
  return counts;
}

/** `12 files (7 .txt, 5 without an ending)`, the most frequent first; empty when there are none. */
export function endingsText(counts: ReadonlyMap<string, number>): string {
  const all = [...counts].sort(([x, a], [y, b]) => b - a || (x < y ? -1 : 1));
  const total = all.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return '';
  const shown = all.slice(0, 5).map(([ending, count]) => `${count} ${ending || 'without an ending'}`);
  if (all.length > shown.length) shown.push('...');
  return `${total} ${total === 1 ? 'file' : 'files'} (${shown.join(', ')})`;
}
