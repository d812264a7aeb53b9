import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, readlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SluiceError } from '../core/problem.js';
import type { RedisBinary } from './binary.js';
import { reasonOf } from './meeting-place.js';
import { probe } from './probe.js';

/** Redis ends when its standard input does, so that not even a killed guard leaves a server behind. */
const LEASH = [
  'exec 3<&0',
  '"$@" </dev/null 2>&1 3<&- & p=$!',
  'echo "pid $p"',
  'exec >/dev/null 2>&1',
  'read -r _ <&3',
  'kill -TERM $p',
  'wait $p',
].join('\n');
const PROBE_EVERY_MS = 20;
const SAVE_WITHIN_MS = 5_000;
const TRIES = 3;
const LOG_TAIL = 1_500;

export interface ServerOptions {
  binary: RedisBinary;
  /** Folder for the append-only file; exists. */
  data: string;
  /** Milliseconds until a server that says nothing is given up; loading a long file does not count. */
  deadlineMs: number;
  /** Called while the server reads its append-only file. */
  onLoading(): void;
}

export interface RedisServer {
  port: number;
  password: string;
  /** Resolves when the server is gone, whoever ended it. */
  ended: Promise<void>;
  /** Clean shutdown: the append-only file is flushed first. Killed after 5 s. */
  stop(): Promise<void>;
}

/**
 * Starts a server with an append-only file on a free loopback port and waits until it answers.
 * @throws SluiceError IO with the end of the server's log
 */
export async function startServer(options: ServerOptions): Promise<RedisServer> {
  await endLeftover(options.data);
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const started = await tryStart(options, port);
    if (started.server) return started.server;
    if (attempt < TRIES && /Address already in use/i.test(started.log)) continue;
    throw new SluiceError('IO', explain(started.log, options.data));
  }
}

interface Running {
  leash: ChildProcess;
  log: () => string;
  pid: () => number | undefined;
  /** The server's output has ended, and so has the server. */
  gone: Promise<void>;
}

async function tryStart(options: ServerOptions, port: number) {
  const password = randomBytes(24).toString('hex');
  const file = join(options.data, 'redis.conf');
  await writeConfig(file, configuration(options.data, port, password));
  const running = launch(options.binary, file);
  let isGone = false;
  void running.gone.then(() => {
    isGone = true;
  });
  let until = Date.now() + options.deadlineMs;
  while (!isGone && Date.now() < until) {
    const answer = await probe(port, password);
    if (answer === 'ready') {
      const server = { port, password, ended: running.gone, stop: () => stop(running) };
      return { server, log: running.log() };
    }
    if (answer === 'loading') {
      until = Date.now() + options.deadlineMs;
      options.onLoading();
    }
    await Promise.race([delay(PROBE_EVERY_MS), running.gone]);
  }
  const wasSilent = !isGone;
  await stop(running);
  return {
    server: undefined,
    log: wasSilent ? `${running.log()}\nit did not answer in time` : running.log(),
  };
}

async function writeConfig(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600 });
  } catch (error) {
    throw new SluiceError('IO', `the private Redis cannot write ${file}: ${reasonOf(error)}`);
  }
}

function configuration(data: string, port: number, password: string): string {
  const quoted = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`;
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${quoted(data)}`,
    `pidfile ${quoted(join(data, 'redis.pid'))}`,
    'daemonize no',
    'appendonly yes',
    'appendfsync everysec',
    // A torn file is the user's to decide about: loading it would drop its end without a word.
    'aof-load-truncated no',
    'maxmemory-policy noeviction',
    'save ""',
    '',
  ].join('\n');
}

function launch(binary: RedisBinary, file: string): Running {
  const leash = spawn('/bin/sh', ['-c', LEASH, 'sh', binary.path, file], {
    env: binary.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let log = '';
  let pid: number | undefined;
  const keep = (chunk: Buffer) => {
    log = (log + chunk.toString('utf8')).slice(-20_000);
    pid ??= Number(/^pid (\d+)$/m.exec(log)?.[1]) || undefined;
  };
  leash.stdin.on('error', () => {});
  leash.stdout.on('data', keep);
  leash.stderr.on('data', keep);
  leash.once('exit', () => signal(pid, 'SIGTERM'));
  const failed = once(leash, 'error').then(([error]) => {
    log += reasonOf(error);
  });
  const gone = Promise.race([once(leash.stdout, 'close'), failed]).then(() => {
    leash.stdin.end();
  });
  return { leash, log: () => log.replace(/^pid \d+\n/m, ''), pid: () => pid, gone };
}

async function stop(running: Running): Promise<void> {
  running.leash.stdin?.end();
  const timer = setTimeout(() => signal(running.pid(), 'SIGKILL'), SAVE_WITHIN_MS);
  await running.gone;
  clearTimeout(timer);
}

/** A server whose guard was killed may still be saving; two on one append-only file would ruin it. */
async function endLeftover(data: string): Promise<void> {
  const pid = Number(await readFile(join(data, 'redis.pid'), 'utf8').catch(() => ''));
  if (!(pid > 0)) return;
  const until = Date.now() + SAVE_WITHIN_MS;
  while (await isServerOf(data, pid)) {
    signal(pid, Date.now() < until ? 'SIGTERM' : 'SIGKILL');
    await delay(PROBE_EVERY_MS);
  }
}

/** A process number may long belong to somebody else: only a server that works in this folder counts. */
async function isServerOf(data: string, pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (!/(redis|valkey)-server/.test(command)) return false;
  return (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === data;
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, name);
  } catch {
    // Already gone.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string')
    throw new SluiceError('IO', 'no loopback port is free');
  return address.port;
}

function explain(log: string, data: string): string {
  const tail = log.trim().slice(-LOG_TAIL) || 'it wrote nothing';
  if (
    /append only file|appendonly|AOF|Unrecoverable error/i.test(tail) &&
    /format|Unexpected end|truncat|corrupt/i.test(tail)
  ) {
    return (
      `the private Redis cannot read its append-only file in ${data}: it is damaged. ` +
      `Either repair it (keep a copy; what stands behind the damage is lost): ` +
      `redis-check-aof --fix ${join(data, 'appendonlydir', 'appendonly.aof.manifest')}; ` +
      `or start anew by moving ${data} away. The server said: ${tail}`
    );
  }
  return `the private Redis in ${data} did not start. The server said: ${tail}`;
}
