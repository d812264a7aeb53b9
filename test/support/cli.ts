import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The checkout's root folder. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(ROOT, 'dist', 'src', 'cli', 'main.js');

export interface SluiceOptions {
  /** Default: the checkout. */
  cwd?: string;
  /** Added to the environment; undefined removes a variable. */
  env?: Record<string, string | undefined>;
  /** Text for standard input; it is closed at once without. */
  input?: string;
  /** Milliseconds after which the process is killed and the call fails; default 60,000. */
  timeout?: number;
}

export interface SluiceExit {
  /** null when a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

let built: Promise<void> | undefined;

function build(): Promise<void> {
  built ??= import(pathToFileURL(join(ROOT, 'scripts', 'setup.mjs')).href).then((setup) =>
    setup.ensureBuild({ strict: false }),
  );
  return built;
}

/** Starts the built command line and leaves it running; its end is the caller's to await. */
export async function spawnSluice(
  args: readonly string[],
  options: SluiceOptions = {},
): Promise<ChildProcessWithoutNullStreams> {
  await build();
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1', REDIS_URL: undefined, ...options.env };
  delete env.VITEST;
  delete env.NODE_ENV;
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: options.cwd ?? ROOT, env });
  child.stdin.on('error', () => {});
  if (options.input !== undefined) child.stdin.end(options.input);
  return child;
}

/** Runs the built command line to its end. */
export async function runSluice(args: readonly string[], options: SluiceOptions = {}): Promise<SluiceExit> {
  const child = await spawnSluice(args, { ...options, input: options.input ?? '' });
  return waitForExit(child, options.timeout);
}

/** What a spawned command line wrote and how it ended. */
export function waitForExit(child: ChildProcessWithoutNullStreams, timeout = 60_000): Promise<SluiceExit> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString('utf8');
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(
        new Error(`still running after ${timeout} ms; stdout: ${text(stdout)}; stderr: ${text(stderr)}`),
      );
    }, timeout);
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (exitCode, signal) => {
      clearTimeout(timer);
      resolve({ exitCode, signal, stdout: text(stdout), stderr: text(stderr) });
    });
  });
}
