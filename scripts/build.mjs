// `npm run build`, and before `npm pack`.
import { say } from './lib/paths.mjs';
import { ensureBuild, ensureDependencies } from './setup.mjs';

try {
  await ensureDependencies();
  await ensureBuild();
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
