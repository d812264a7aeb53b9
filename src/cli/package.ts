import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SluiceError } from '../core/problem.js';

/** The package's folder: the nearest one above this file that holds a package.json. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error('package.json is missing above the command line');
    folder = above;
  }
  return folder;
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** The built command line, for child processes. Throws IO when the package is not built. */
export function builtEntry(): string {
  const entry = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
  if (!existsSync(entry)) throw new SluiceError('IO', 'the package is not built; run npm run build first');
  return entry;
}
