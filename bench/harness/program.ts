import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { endProcess } from './child-process.js';
import type { Place } from './place.js';
import { NotRun } from './row.js';

/** The command line as it is installed; `npm run bench` builds it first. */
const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

/** Starts a role of the command line, and waits for the line that says it is up. */
export async function startProgram(place: Place, ...args: string[]): Promise<void> {
  if (!existsSync(MAIN)) throw new NotRun('the command line is not built: `npm run bench` does that');
  const child = spawn(process.execPath, [MAIN, ...args, '--json', '--log-level', 'error'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  place.later(() => endProcess(child));
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`sluice ${args[0]} has ended with ${code}`)),
  );
  ended.catch(() => {});
  await Promise.race([once(child.stdout, 'data'), ended]);
}
