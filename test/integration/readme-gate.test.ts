import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/cli.js';
import { openShell, type Shell, stepsOf } from '../support/pages.js';

const page = readFileSync(join(ROOT, 'README.md'), 'utf8');
const section = page.slice(
  page.indexOf('## Plans: the gate before Apply'),
  page.indexOf('## Validations of your own'),
);

let shell: Shell;
beforeAll(async () => {
  shell = await openShell(join('examples', 'gate'));
}, 120_000);
afterAll(() => shell.close());

describe('the plan gate in README.md', () => {
  const commands = stepsOf(section).flatMap((step) => step.commands);

  it('begins with what a checkout runs as sluice, and ends the fleet', () => {
    expect(commands[0]?.text).toBe('sluice() { node scripts/sluice.mjs "$@"; }');
    expect(commands[1]?.text).toMatch(/^sluice up & /);
    expect(commands.at(-1)?.text).toMatch(/^kill %1 /);
  });

  it('runs as written, from files that a checkout has', async () => {
    await shell.up();
    const between = commands.slice(2, -1);
    expect(between.length).toBeGreaterThan(6);
    for (const { text, exitCode } of between) {
      const answer = await shell.run(text);
      expect({ text, ...answer }).toMatchObject({ exitCode });
    }
  }, 180_000);
});
