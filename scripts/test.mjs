// `npm test`: set-up, then every test project, and one line of totals at the very end.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, say } from './lib/paths.mjs';
import { runNode } from './lib/run.mjs';
import { totals } from './lib/totals.mjs';
import {
  ensureAnsible,
  ensureBrokers,
  ensureBubblewrap,
  ensureBuild,
  ensureDependencies,
  ensurePromtool,
  ensureRedis,
} from './setup.mjs';

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
ensureBrokers();
ensurePromtool();

const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'));
const report = join(folder, 'report.json');
const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const exit = await runNode([vitest, 'run', ...reporters, ...process.argv.slice(2)]);

let json;
try {
  json = JSON.parse(readFileSync(report, 'utf8'));
} catch {
  say('vitest wrote no report: it ended before the tests did');
}
rmSync(folder, { recursive: true, force: true });
const { passed, failed, skipped } = totals(json, exit);
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = exit === 0 && failed > 0 ? 1 : exit;
