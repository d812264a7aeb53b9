import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SluiceError } from '../core/problem.js';
import { findRedisBinary } from './binary.js';
import {
  connectTo,
  knownMeetingPlace,
  openMeetingPlace,
  prepareDataFolder,
  reasonOf,
  socketNumbers,
  socketPath,
} from './meeting-place.js';
import { type GuardMessage, parseMessage } from './messages.js';

const RETRY_MS = 20;
/** The guard gives up first, so that its reason arrives before its user's patience ends. */
const GUARD_SHARE = 0.8;

export interface PrivateRedisOptions {
  /** Folder for its data; default `.sluice` in the working directory. */
  dir?: string;
  /** Where PATH and TMPDIR are looked up. */
  env: NodeJS.ProcessEnv;
  /** Milliseconds without any news after which the start is given up; default 10,000. */
  deadlineMs?: number;
}

export interface PrivateRedis {
  /** With the password that keeps other users of the machine out. */
  url: string;
  port: number;
  /** Lets go of the server; it ends about a second after its last user, even one that was killed. */
  release(): Promise<void>;
  /** Resolves when the server or its guard is gone before it was let go of; both end together. */
  lost: Promise<void>;
}

/**
 * The private Redis of a folder: the one that is running, or a new one on a free loopback port with an
 * append-only file (DESIGN 8, Embedded default). Users in several processes share it.
 * @throws SluiceError IO when the folder or the server cannot be used, REDIS_VERSION below 6.2
 */
export async function ensurePrivateRedis(
  options: PrivateRedisOptions,
): Promise<PrivateRedis | { unavailable: string }> {
  const dir = options.dir ?? '.sluice';
  if (!(await findRedisBinary(dir, options.env))) {
    return {
      unavailable: 'neither redis-server nor valkey-server is installed',
    };
  }
  const home = await prepareDataFolder(dir);
  const place = await openMeetingPlace(home, options.env);
  const quiet = options.deadlineMs ?? 10_000;
  const deadline = { at: Date.now() + quiet };
  let guard: Guard | undefined;
  while (Date.now() < deadline.at) {
    const socket = await joinGuard(place);
    if (socket) {
      const news = await listen(
        socket,
        () => {
          deadline.at = Date.now() + quiet;
        },
        quiet,
      );
      if (news?.status === 'ready') return connected(socket, news);
      socket.destroy();
      if (news?.status === 'failed') throw new SluiceError(news.code, news.message);
    }
    if (guard === undefined || guard.child.exitCode === 0) guard = startGuard(home, options.env, quiet);
    if (guard.child.exitCode)
      throw new SluiceError('IO', `the guard of the private Redis ended: ${tailOf(guard.log)}`);
    await delay(RETRY_MS);
  }
  throw new SluiceError(
    'IO',
    `the private Redis in ${home} did not answer within ${quiet / 1000} s: ${tailOf(guard?.log)}`,
  );
}

/**
 * The private Redis of a folder if it runs, joined as its other users did; else undefined, also when it
 * is not ready within `deadlineMs`. Starts and makes nothing.
 */
export async function runningPrivateRedis({
  dir = '.sluice',
  env,
  deadlineMs = 5_000,
}: PrivateRedisOptions): Promise<PrivateRedis | undefined> {
  const place = await knownMeetingPlace(dir, env);
  const socket = place === undefined ? undefined : await joinGuard(place);
  if (socket === undefined) return undefined;
  // One that reads a long file says so again and again.
  const timer = setTimeout(() => socket.destroy(), deadlineMs);
  const news = await listen(socket, () => {}, deadlineMs);
  clearTimeout(timer);
  if (news?.status === 'ready') return connected(socket, news);
  socket.destroy();
  return undefined;
}

function connected(socket: Socket, news: Extract<GuardMessage, { status: 'ready' }>): PrivateRedis {
  socket.unref();
  let released = false;
  return {
    lost: new Promise((resolve) => {
      socket.once('close', () => {
        if (!released) resolve();
      });
    }),
    url: `redis://:${news.password}@127.0.0.1:${news.port}`,
    port: news.port,
    release: () =>
      new Promise((resolve) => {
        released = true;
        if (socket.closed) return resolve();
        socket.ref();
        socket.once('close', () => resolve());
        socket.destroy();
      }),
  };
}

async function joinGuard(place: string): Promise<Socket | undefined> {
  for (const number of await socketNumbers(place)) {
    const socket = await connectTo(socketPath(place, number));
    if (socket) return socket;
  }
  return undefined;
}

/** The guard's answer, or undefined when it went away or said nothing for `quiet` milliseconds. */
function listen(socket: Socket, alive: () => void, quiet: number): Promise<GuardMessage | undefined> {
  return new Promise((resolve) => {
    socket.on('error', () => {});
    socket.setTimeout(quiet, () => resolve(undefined));
    socket.once('close', () => resolve(undefined));
    const lines = createInterface({ input: socket });
    // The interface repeats the socket's errors, and an unheard one would end the process.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const message = parseMessage(line);
      if (message === undefined || message.status === 'loading') return alive();
      socket.setTimeout(0);
      lines.close();
      socket.resume();
      resolve(message);
    });
  });
}

interface Guard {
  child: ChildProcess;
  log: string;
}

function startGuard(home: string, env: NodeJS.ProcessEnv, quiet: number): Guard {
  const source = fileURLToPath(import.meta.url).endsWith('.ts');
  const program = fileURLToPath(new URL(source ? './guard.ts' : './guard.js', import.meta.url));
  // From a checkout's TypeScript (tests), the guard needs the same loader.
  const loader = source ? ['--import', pathToFileURL(tsx()).href] : [];
  const log = join(home, 'redis', 'guard.log');
  let output: number;
  try {
    output = openSync(log, 'w', 0o600);
  } catch (error) {
    throw new SluiceError('IO', `the private Redis cannot write ${log}: ${reasonOf(error)}`);
  }
  const child = spawn(process.execPath, [...loader, program, home, String(quiet * GUARD_SHARE)], {
    cwd: home,
    detached: true,
    env: { ...env, NODE_OPTIONS: undefined },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.on('error', () => {});
  child.unref();
  return { child, log };
}

function tsx(): string {
  return createRequire(import.meta.url).resolve('tsx');
}

function tailOf(log: string | undefined): string {
  if (log === undefined) return 'nobody answered';
  try {
    return readFileSync(log, 'utf8').trim().slice(-1_500) || 'it wrote nothing';
  } catch {
    return 'it wrote nothing';
  }
}
