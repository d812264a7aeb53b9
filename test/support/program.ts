import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundleSource } from '../../scripts/lib/bundle.mjs';
import { ROOT } from './cli.js';

const bundles = new Map<string, Promise<string>>();

/**
 * A TypeScript program as one file of JavaScript, for processes that are started again and again: each
 * would compile and load a thousand modules otherwise. The file goes with this process.
 */
export function bundledProgram(program: string): Promise<string> {
  const known = bundles.get(program) ?? bundle(program);
  bundles.set(program, known);
  return known;
}

async function bundle(program: string): Promise<string> {
  const name = `${basename(program, '.ts')}-${process.pid}.mjs`;
  const file = join(ROOT, 'node_modules', '.cache', 'sluice', 'test', name);
  process.once('exit', () => rmSync(file, { force: true }));
  await bundleSource(program, file);
  return file;
}
