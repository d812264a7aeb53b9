// `npm start`: set-up, then the main job on the bundled example.
import { join } from 'node:path';
import { ROOT, say } from './lib/paths.mjs';
import { runNode } from './lib/run.mjs';
import { ensureAnsible, ensureBubblewrap, ensureBuild, ensureDependencies, ensureRedis } from './setup.mjs';

const EXAMPLE = ['examples/incidents/scenarios', '--runs', 'examples/incidents/runs.ndjson', '--exit-zero'];

try {
  await ensureDependencies();
  await ensureBuild();
} catch (error) {
  say(error.message);
  process.exit(3);
}
ensureRedis();
ensureAnsible();
ensureBubblewrap();
const args = ['evaluate', ...EXAMPLE, ...process.argv.slice(2)];
say(`running: sluice ${args.join(' ')}`);
const exit = await runNode([join(ROOT, 'dist', 'src', 'cli', 'main.js'), ...args]);
if (exit === 0) {
  say(`
That judged the recorded runs in examples/incidents/runs.ndjson against the scenarios beside them and
printed one decision per run. Some of them fail on purpose; the exit code is 0 all the same because of
--exit-zero. Try next:
  npm run -s sluice -- evaluate examples/incidents/scenarios --runs examples/incidents/runs.ndjson --json
  npm run -s sluice -- doctor        what this machine can and cannot run
  npm run -s sluice -- --help        every command`);
}
process.exitCode = exit;
