// `npm run documents`: writes docs/events.md, docs/schemas, docs/asyncapi.json and docs/openapi.json anew.
import { say } from './lib/paths.mjs';
import { runNode } from './lib/run.mjs';
import { ensureDependencies } from './setup.mjs';

try {
  await ensureDependencies();
} catch (error) {
  say(error.message);
  process.exit(3);
}
process.exitCode = await runNode(['--import', 'tsx', 'test/support/write-documents.ts']);
