import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

// What is left in it was left by this test file: others on the machine write elsewhere.
const before = process.env.TMPDIR;
const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
process.env.TMPDIR = folder;

afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(folder, { recursive: true, force: true });
});
