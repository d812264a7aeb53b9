import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EXECUTOR_FLAGS } from '../../workers/executor.js';
import { restartDelay } from '../core/autoscale/crashes.js';
import { CHILD_COUNTS, type ChildCounts } from './child-counts.js';
import { CHILD_WAITS, END_AT_ONCE } from './child-messages.js';
import { CHILD_REDIS, CHILD_UNSERVED } from './child-redis.js';
import { endChild } from './end-child.js';
import { builtEntry } from './package.js';

const AT_ONCE_MS = 500;

const STEADY_MS = 30_000;

export interface ExecutorSettings {
  redisUrl: string;
  fleet: string;
  config: string | undefined;
  logLevel: string;
  /** Milliseconds that a worker may take to finish what it has in hand. */
  drainMs: number;
  /** On a Redis of this folder's own: no other workers are expected, so what these lack is an error at once. */
  isAlone: boolean;
  /** Adds up what they count; absent: they count nothing. */
  counts?: ChildCounts | undefined;
}

/**
 * Starts a worker process that is tied to this one by its IPC channel; `waits`: it loads everything, and
 * then waits until it is told to begin. Throws IO when the package is not built.
 */
export function spawnWorker(settings: ExecutorSettings, waits = false): ChildProcess {
  const { redisUrl, fleet, config, logLevel, isAlone, counts } = settings;
  const args = [...EXECUTOR_FLAGS, builtEntry(), 'worker', '--fleet', fleet, '--log-level', logLevel];
  if (config !== undefined) args.push('--config', config);
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      [CHILD_REDIS]: redisUrl,
      ...(isAlone ? { [CHILD_UNSERVED]: 'error' } : {}),
      ...(waits ? { [CHILD_WAITS]: '1' } : {}),
      [CHILD_COUNTS]: counts === undefined ? '0' : '1',
    },
  });
  counts?.watch(child);
  return child;
}

const living = new Set<Executors>();

/** Ends every worker process of this one within half a second; what they had in hand is judged anew. */
export async function endWorkersAtOnce(): Promise<void> {
  await Promise.all([...living].map((executors) => executors.endAtOnce()));
}

/**
 * Worker processes of this one: tied to it by their IPC channel, so that they end when it dies, and
 * started again when they end by themselves.
 */
export class Executors {
  readonly #settings: ExecutorSettings;
  readonly #log: Logger;
  readonly #children = new Set<ChildProcess>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #started = 0;
  #stopping = false;

  constructor(settings: ExecutorSettings, log: Logger) {
    this.#settings = settings;
    this.#log = log;
  }

  /** How many were started and are to be kept alive. */
  get count(): number {
    return this.#started;
  }

  /** Throws IO when the package is not built. */
  start(count: number): void {
    builtEntry();
    living.add(this);
    for (let n = 0; n < count; n++) this.#spawn(0);
    this.#started += count;
  }

  #spawn(restarts: number): void {
    const started = Date.now();
    const child = spawnWorker(this.#settings);
    this.#children.add(child);
    let ended = false;
    const onEnd = (reason: string) => {
      if (ended) return;
      ended = true;
      this.#children.delete(child);
      if (this.#stopping) return;
      const row = Date.now() - started > STEADY_MS ? 1 : restarts + 1;
      const delay = restartDelay(row);
      this.#log.warn({ pid: child.pid, reason, delay }, 'a worker process has ended; starting another');
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#spawn(row);
      }, delay);
      this.#timers.add(timer);
    };
    child.once('error', (error) => onEnd(error.message));
    child.once('exit', (code, signal) => onEnd(signal ?? `exit ${code}`));
  }

  /** Drains them; what is not gone after the drain deadline and a little more is killed. */
  async stop(): Promise<void> {
    this.halt();
    await Promise.all([...this.#children].map((child) => endChild(child, this.#settings.drainMs)));
    living.delete(this);
  }

  /** Takes no notice of what they have in hand. */
  async endAtOnce(): Promise<void> {
    this.halt();
    const children = [...this.#children].filter(
      ({ exitCode, signalCode }) => (exitCode ?? signalCode) === null,
    );
    const gone = Promise.all(children.map((child) => once(child, 'exit')));
    for (const child of children) if (child.connected) child.send(END_AT_ONCE, () => {});
    await Promise.race([gone, delay(AT_ONCE_MS)]);
    for (const child of children) child.kill('SIGKILL');
  }

  /** From here on none is started again: Ctrl-C at a terminal ends them by itself. */
  halt(): void {
    this.#stopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
