// `npm run bench -- …`: set-up, then the measurements in bench/main.ts.
import { say } from './lib/paths.mjs';
import { runNode } from './lib/run.mjs';
import { ensureBubblewrap, ensureBuild, ensureDependencies, ensureRedis } from './setup.mjs';

try {
  await ensureDependencies();
  await ensureBuild();
} catch (error) {
  say(error.message);
  process.exit(3);
}
ensureRedis();
ensureBubblewrap();
process.exitCode = await runNode([
  '--max-semi-space-size=64',
  '--import',
  'tsx',
  'bench/main.ts',
  ...process.argv.slice(2),
]);
