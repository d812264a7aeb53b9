import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout's root folder. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Where set-up keeps its stamps; gone with node_modules. */
export const CACHE = join(ROOT, 'node_modules', '.cache', 'sluice');

/** Everything that set-up has to say goes to standard error: standard output belongs to the command. */
export function say(text) {
  process.stderr.write(`${text}\n`);
}
