import { execFileSync } from 'node:child_process';
import { cpus, freemem, loadavg, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { hundredths } from './figures.js';
import { redisVersion } from './redis.js';

/** The machine that figures are from. */
export interface Machine {
  cpu: string;
  cores: number;
  memory_gib: number;
  kernel: string;
  node: string;
  redis: string;
}

/** What was going on before the first row. */
export interface Before {
  /** Mean number of processes that wanted to run, over one, five and fifteen minutes. */
  load: number[];
  free_gib: number;
  /** Commit of the checkout, `+` when files differ from it; null: not in a checkout. */
  commit: string | null;
}

export const machine = (): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  node: process.version,
  redis: redisVersion() ?? 'none',
});

function commit(): string | null {
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return git('rev-parse', '--short', 'HEAD') + (changed ? '+' : '');
  } catch {
    return null;
  }
}

export const before = (): Before => ({
  load: loadavg().map(hundredths),
  free_gib: Math.round(freemem() / 2 ** 30),
  commit: commit(),
});

export const machineLine = ({ cpu, cores, memory_gib, kernel, node, redis }: Machine): string =>
  `${cpu}, ${cores} cores, ${memory_gib} GiB, Linux ${kernel}, Node ${node}, Redis ${redis}`;
