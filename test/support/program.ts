import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { bundleSource } from '../../scripts/lib/bundle.mjs';
import { ROOT } from './cli.js';

const bundles = new Map<string, Promise<string>>();

/**
 * A TypeScript program as one file of JavaScript, for processes that are started again and again: each
 * would compile and load a thousand modules otherwise. The file lies with what the build keeps.
 */
export function bundledProgram(program: string): Promise<string> {
  const known = bundles.get(program) ?? bundle(program);
  bundles.set(program, known);
  return known;
}

async function bundle(program: string): Promise<string> {
  const file = join(ROOT, 'node_modules', '.cache', 'sluice', 'test', `${basename(program, '.ts')}.mjs`);
  const next = `${file}.${process.pid}.tmp`;
  await bundleSource(program, next);
  // Another test file may be starting processes from the one that is there.
  await rename(next, file);
  return file;
}
