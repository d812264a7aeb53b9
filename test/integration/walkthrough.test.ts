import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_NAMES } from '../../src/core/events.js';
import { ROOT } from '../support/cli.js';
import { missingIn, openShell, type Shell, stepsOf } from '../support/pages.js';

const page = readFileSync(join(ROOT, 'docs', 'plans.md'), 'utf8');

let shell: Shell;
beforeAll(async () => {
  shell = await openShell('.');
}, 120_000);
afterAll(() => shell.close());

describe('docs/plans.md', () => {
  const steps = stepsOf(page);

  it('runs as written, command after command, with these exit codes and outputs', async () => {
    for (const { line, commands, output } of steps) {
      let printed = '';
      for (const { text, exitCode } of commands) {
        if (text === 'sluice up') await shell.up();
        else {
          const answer = await shell.run(text);
          printed += answer.output;
          expect({ line, text, ...answer }).toMatchObject({ exitCode });
        }
      }
      expect({ line, printed, missing: missingIn(printed, output) }).toMatchObject({ missing: [] });
    }
  }, 600_000);

  it('names no event of a plan’s life that was not printed on the way', async () => {
    const { output } = await shell.run('sluice events tail --no-follow --json');
    const types = output
      .trim()
      .split('\n')
      .map((each) => (JSON.parse(each) as { type: string }).type);
    const named = EVENT_NAMES.filter((name) => page.includes(name));
    expect(named.filter((name) => !types.includes(`dev.sluice.${name}.v1`))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });

  it('shows every event of the plan that is applied', async () => {
    const { output } = await shell.run('sluice events tail --no-follow --plan release-7');
    const shown = steps.flatMap((step) => step.output).filter((each) => /^… {2}\w+\.\w+/.test(each));
    const applied = shown.slice(0, shown.findIndex((each) => each.includes('plan.applied')) + 1);
    expect(applied.length).toBe(output.trim().split('\n').length);
  });
});

describe('the comparison with what the page shows', () => {
  it('finds what is missing, and what comes in another order', () => {
    const output = '01ABC  local/a  pass (1)\nnext, by 9:00: go\n';
    expect(missingIn(output, ['…  local/a  pass (1)', 'next, by …: go'])).toEqual([]);
    expect(missingIn(output, ['next, by …: go', '…  local/a  pass (1)'])).toEqual(['…  local/a  pass (1)']);
    expect(missingIn(output, ['… local/a  pass (2)', '… local/a'])).toEqual([
      '… local/a  pass (2)',
      '… local/a',
    ]);
  });

  it('takes commands with the output that follows them at once', () => {
    const text =
      '```sh\nsluice a  # exits 1\n```\n```\n…\nb  …\n```\ntext\n```sh\nsluice c\n```\ntext\n```\nno\n```\n';
    expect(stepsOf(text)).toEqual([
      { line: 1, commands: [{ text: 'sluice a  # exits 1', exitCode: 1 }], output: ['b  …'] },
      { line: 9, commands: [{ text: 'sluice c', exitCode: 0 }], output: [] },
    ]);
  });
});
