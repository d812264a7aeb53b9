import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/cli.js';
import { missingIn, openShell, type Shell, stepsOf } from '../support/pages.js';

const page = readFileSync(join(ROOT, 'docs', 'validators.md'), 'utf8');

let shell: Shell;
beforeAll(async () => {
  shell = await openShell('examples/tools', 'tools', 'examples/tools');
  // The server of the example imports packages of the checkout.
  await shell.run(`ln -s ${JSON.stringify(join(ROOT, 'node_modules'))} ../../node_modules`);
}, 120_000);
afterAll(() => shell.close());

describe('docs/validators.md', () => {
  const steps = stepsOf(page);

  it('shows a working example of every kind, command after command, with these exit codes and outputs', async () => {
    for (const { line, commands, output } of steps) {
      let printed = '';
      for (const { text, exitCode } of commands) {
        const [, up] = /^sluice up(.*)$/.exec(text) ?? [];
        if (up !== undefined) await shell.up(up.split(' ').filter((word) => word !== ''));
        else {
          const answer = await shell.run(text);
          printed += answer.output;
          expect({ line, text, ...answer }).toMatchObject({ exitCode });
        }
      }
      expect({ line, printed, missing: missingIn(printed, output) }).toMatchObject({ missing: [] });
    }
  }, 300_000);
});

describe('validations of your own in README.md', () => {
  it('run as written, from the files that a checkout has', async () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const section = readme.slice(
      readme.indexOf('## Validations of your own'),
      readme.indexOf('## Scaling out'),
    );
    const commands = stepsOf(section).flatMap((step) => step.commands);
    expect(commands.length).toBeGreaterThan(1);
    for (const { text, exitCode } of commands) {
      const answer = await shell.run(`cd ../.. && ${text}`);
      expect({ text, ...answer }).toMatchObject({ exitCode });
    }
  }, 60_000);
});
