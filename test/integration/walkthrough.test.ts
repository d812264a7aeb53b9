import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_NAMES } from '../../src/core/events.js';
import { ROOT, runSluice, spawnSluice } from '../support/cli.js';

const page = readFileSync(join(ROOT, 'docs', 'plans.md'), 'utf8');

/** A block of commands, and what the page says that they print. */
interface Step {
  line: number;
  commands: { text: string; exitCode: number }[];
  output: string[];
}

/** Every `sh` block of the page, with the block without a language that follows it at once. */
function stepsOf(text: string): Step[] {
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, language, commands = ''], n) => {
    if (language !== 'sh') return [];
    const block = blocks[n] as RegExpExecArray;
    const end = block.index + block[0].length;
    const next = blocks[n + 1];
    const follows = next !== undefined && next[1] === '' && text.slice(end, next.index).trim() === '';
    return [
      {
        line: text.slice(0, block.index).split('\n').length,
        commands: commands
          .split('\n')
          .filter((each) => each !== '')
          .map((each) => ({ text: each, exitCode: Number(/# exits (\d)$/.exec(each)?.[1] ?? 0) })),
        output: follows ? (next[2] ?? '').split('\n').filter((each) => !/^…?$/.test(each.trim())) : [],
      },
    ];
  });
}

/** A line of the page: `…` stands for anything, and columns may be as wide as they like. */
function patternOf(line: string): RegExp {
  const words = line.trim().split(/\s+/);
  const word = (each: string) =>
    each
      .split('…')
      .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*');
  // What stands for anything may also stand for nothing, and then has no space around it.
  return new RegExp(
    `^\\s*${words.map(word).join('\\s+').replaceAll('\\s+.*', '.*').replaceAll('.*\\s+', '.*')}\\s*$`,
  );
}

/** Lines of the page that the output does not have, in this order. */
function missingIn(output: string, expected: readonly string[]): string[] {
  const lines = output.split('\n');
  let from = 0;
  return expected.filter((line) => {
    const at = lines.findIndex((each, n) => n >= from && patternOf(line).test(each));
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}

let folder: string;
let up: ChildProcessWithoutNullStreams;
let env: NodeJS.ProcessEnv;

async function startFleet(args: readonly string[]): Promise<void> {
  up = await spawnSluice(args, { cwd: folder });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    up.stderr.on('data', (piece: Buffer) => {
      said += piece;
      if (said.includes(' is up on ')) resolve();
    });
    up.on('exit', (code) => reject(new Error(`sluice up ended with ${code}: ${said}`)));
  });
}

async function runLine(text: string): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn('sh', ['-c', `{ ${text}\n} 2>&1`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (piece: Buffer) => {
    output += piece;
  });
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, output };
}

beforeAll(async () => {
  // Builds what the commands run.
  await runSluice(['--version']);
  folder = await mkdtemp(join(tmpdir(), 'sluice-walkthrough-'));
  await cp(join(ROOT, 'examples', 'gate'), folder, { recursive: true });
  const bin = await mkdtemp(join(folder, '.bin-'));
  const main = join(ROOT, 'dist', 'src', 'cli', 'main.js');
  await writeFile(join(bin, 'sluice'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, {
    mode: 0o755,
  });
  env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, NO_COLOR: '1' };
  for (const name of ['REDIS_URL', 'VITEST', 'NODE_ENV', 'SLUICE_ACTOR']) delete env[name];
}, 120_000);
afterAll(async () => {
  if (up !== undefined && up.exitCode === null) {
    up.kill('SIGTERM');
    await once(up, 'exit');
  }
  await rm(folder, { recursive: true });
});

describe('docs/plans.md', () => {
  const steps = stepsOf(page);

  it('runs as written, command after command, with these exit codes and outputs', async () => {
    for (const { line, commands, output } of steps) {
      let printed = '';
      for (const { text, exitCode } of commands) {
        if (text === 'sluice up') await startFleet(['up']);
        else {
          const answer = await runLine(text);
          printed += answer.output;
          expect({ line, text, ...answer }).toMatchObject({ exitCode });
        }
      }
      expect({ line, printed, missing: missingIn(printed, output) }).toMatchObject({ missing: [] });
    }
  }, 600_000);

  it('names no event of a plan’s life that was not printed on the way', async () => {
    const { output } = await runLine('sluice events tail --no-follow --json');
    const types = output
      .trim()
      .split('\n')
      .map((each) => (JSON.parse(each) as { type: string }).type);
    const named = EVENT_NAMES.filter((name) => page.includes(name));
    expect(named.filter((name) => !types.includes(`dev.sluice.${name}.v1`))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
  });

  it('shows every event of the plan that is applied', async () => {
    const { output } = await runLine('sluice events tail --no-follow --plan release-7');
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
