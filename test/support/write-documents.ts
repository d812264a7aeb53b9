import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { eventsPage, generatedFiles } from './documents.js';
import { exampleMessages } from './example-messages.js';

// Writes what docs/ has from the code, with new examples; run by `npm run documents`.
mkdirSync('docs/schemas', { recursive: true });
const files = generatedFiles();
for (const name of readdirSync('docs/schemas'))
  if (!files.has(`docs/schemas/${name}`)) rmSync(`docs/schemas/${name}`);
for (const [path, content] of files) writeFileSync(path, content);
writeFileSync('docs/events.md', eventsPage(await exampleMessages()));
console.log(`docs/events.md and ${files.size} documents are written`);
