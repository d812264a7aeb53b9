import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT, runSluice, spawnSluice } from './cli.js';

/** A block of commands, and what the page says that they print. */
export interface Step {
  line: number;
  commands: { text: string; exitCode: number }[];
  output: string[];
}

/** Every `sh` block of the page, with the block without a language that follows it at once. */
export function stepsOf(text: string): Step[] {
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
          .map((each) => ({ text: each, exitCode: Number(/# exits (\d)(?::|$)/.exec(each)?.[1] ?? 0) })),
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
export function missingIn(output: string, expected: readonly string[]): string[] {
  const lines = output.split('\n');
  let from = 0;
  return expected.filter((line) => {
    const at = lines.findIndex((each, n) => n >= from && patternOf(line).test(each));
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}

/** A folder in which the commands of a page are run. */
export interface Shell {
  /** One line, as `sh` runs it; what it prints to both outputs. */
  run(line: string): Promise<{ exitCode: number | null; output: string }>;
  /** `sluice up` with these options, and waits until it is. */
  up(options?: string[]): Promise<void>;
  /** Ends the fleet and removes the folder. */
  close(): Promise<void>;
}

async function startFleet(folder: string, options: string[]): Promise<ChildProcessWithoutNullStreams> {
  const up = await spawnSluice(['up', ...options], { cwd: folder });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    up.stderr.on('data', (piece: Buffer) => {
      said += piece;
      if (said.includes(' is up on ')) resolve();
    });
    up.on('exit', (code) => reject(new Error(`sluice up ended with ${code}: ${said}`)));
  });
  return up;
}

/** A new folder with an example at `place` in it, and `sluice` on the PATH; commands run in it, or `at` a folder in it. */
export async function openShell(place: string, example = 'gate', at = '.'): Promise<Shell> {
  // Builds what the commands run.
  await runSluice(['--version']);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-page-'));
  await cp(join(ROOT, 'examples', example), join(folder, place), { recursive: true });
  const bin = await mkdtemp(join(folder, '.bin-'));
  const main = join(ROOT, 'dist', 'src', 'cli', 'main.js');
  const script = `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`;
  await writeFile(join(bin, 'sluice'), script, { mode: 0o755 });
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    NO_COLOR: '1',
  };
  for (const name of ['REDIS_URL', 'VITEST', 'NODE_ENV', 'SLUICE_ACTOR']) delete env[name];
  const cwd = join(folder, at);
  let fleet: ChildProcessWithoutNullStreams | undefined;
  return {
    async run(line) {
      const child = spawn('sh', ['-c', `{ ${line}\n} 2>&1`], {
        cwd,
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let output = '';
      child.stdout.on('data', (piece: Buffer) => {
        output += piece;
      });
      const [exitCode] = (await once(child, 'close')) as [number | null];
      return { exitCode, output };
    },
    async up(options = []) {
      fleet = await startFleet(cwd, options);
    },
    async close() {
      if (fleet !== undefined && fleet.exitCode === null) {
        fleet.kill('SIGTERM');
        await once(fleet, 'exit');
      }
      await rm(folder, { recursive: true });
    },
  };
}
