// `npm run -s sluice -- …`: the command line of this checkout, built first when the sources changed.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, say } from './lib/paths.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

const main = join(ROOT, 'dist', 'src', 'cli', 'main.js');
try {
  await ensureDependencies();
  await ensureBuild({ strict: false });
} catch (error) {
  say(error.message);
  process.exit(3);
}
process.argv[1] = main;
await import(pathToFileURL(main).href);
