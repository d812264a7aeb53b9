import { type ChildProcess, spawn } from 'node:child_process';
import { getSystemErrorMap } from 'node:util';
import type { Launch } from './launch.js';
import { freeze, generationsOf, marked, send } from './tree.js';

export interface Ending {
  exitCode: number | null;
  signal?: NodeJS.Signals;
  /** Why it could not be spawned. */
  error?: string;
}

/** How long pipes are read, twice, whose writer escaped its own end. */
const LAST_WORDS_MS = 250;

const living = new Set<StartedProcess>();

/** What is started has a group of its own, which this process must not leave behind when it ends at once. */
function endAll(): void {
  for (const each of living) each.abandon();
}

/** In words, where the system has some: `argument list too long`, `too many open files`. */
function whyNotSpawned(error: NodeJS.ErrnoException): string {
  return getSystemErrorMap().get(error.errno ?? 0)?.[1] ?? error.message;
}

/** Or why there is none: only some reasons come as an event. */
function spawned({ file, args, env, cwd, feeds }: Launch, stdin: 'pipe' | 'ignore'): ChildProcess | string {
  try {
    return spawn(file, args, {
      env,
      ...(cwd === undefined ? {} : { cwd }),
      stdio: [stdin, 'pipe', 'pipe', ...feeds.map(() => 'pipe' as const)],
      detached: true,
    });
  } catch (error) {
    return whyNotSpawned(error as NodeJS.ErrnoException);
  }
}

/** A process with all that it starts. */
export class StartedProcess {
  /** Absent, or without pid and streams, where it could not be spawned: `ended` tells why. */
  readonly child: ChildProcess | undefined;
  /** All of it is gone, and so is its folder. Never rejects. */
  readonly ended: Promise<Ending>;
  readonly #launch: Launch;
  readonly #graceMs: number;
  #over = false;
  #stopping: NodeJS.Timeout | undefined;

  constructor(launch: Launch, stdin: 'pipe' | 'ignore', graceMs: number) {
    this.#launch = launch;
    this.#graceMs = graceMs;
    const child = spawned(launch, stdin);
    if (living.size === 0) process.once('exit', endAll);
    living.add(this);
    if (typeof child === 'string') {
      this.ended = this.#released({ exitCode: null, error: child });
      return;
    }
    this.child = child;
    this.ended = this.#end(child);
    this.#feed(child);
  }

  #feed(child: ChildProcess): void {
    child.stdin?.on('error', () => {});
    // Node leaves it out where there are no descriptors for it.
    const streams: ChildProcess['stdio'] | undefined = child.stdio;
    for (const [i, text] of this.#launch.feeds.entries()) {
      const stream = streams?.[3 + i];
      stream?.on('error', () => {});
      if (stream && 'end' in stream) stream.end(text);
    }
  }

  async #end(child: ChildProcess): Promise<Ending> {
    const ending = await new Promise<Ending>((resolve) => {
      child.on('error', (error) => {
        if (child.pid === undefined) resolve({ exitCode: null, error: whyNotSpawned(error) });
      });
      child.once('exit', (exitCode, signal) => {
        const hangUp = this.#leftBehind(child);
        child.once('close', () => {
          clearTimeout(hangUp);
          resolve({ exitCode, ...(signal === null ? {} : { signal }) });
        });
      });
    });
    return this.#released(ending);
  }

  async #released(ending: Ending): Promise<Ending> {
    clearTimeout(this.#stopping);
    living.delete(this);
    if (living.size === 0) process.off('exit', endAll);
    await this.#launch.release().catch(() => undefined);
    return ending;
  }

  /** What the program started and did not wait for. A sandbox has ended it already. */
  #leftBehind({ pid, stdio }: ChildProcess): NodeJS.Timeout {
    this.#over = true;
    if (!this.#launch.sandboxed) this.kill();
    // Twice, so that what is in the pipes is read even when this process had no time for them.
    let late = false;
    const hangUp = setTimeout(() => {
      if (late) {
        for (const stream of stdio) stream?.destroy();
        return;
      }
      late = true;
      if (pid !== undefined) send('SIGKILL', marked(this.#launch.mark, pid));
      hangUp.refresh();
    }, LAST_WORDS_MS);
    return hangUp;
  }

  /** SIGTERM to all of it, SIGKILL when it is still there after the grace. */
  stop(): void {
    if (this.#stopping !== undefined || this.#over) return;
    this.#stopping = setTimeout(() => this.kill(), this.#graceMs);
    const members = this.#members();
    if (members.length > 0) send('SIGTERM', members);
    else this.kill();
  }

  /** SIGKILL to all of it and its folder removed, at once: this process ends. */
  abandon(): void {
    this.kill();
    this.#launch.abandon();
  }

  /** SIGKILL to all of it. */
  kill(): void {
    const pid = this.child?.pid;
    if (pid === undefined) return;
    if (!this.#launch.sandboxed) send('SIGKILL', [-pid, ...marked(this.#launch.mark, pid)]);
    else if (!this.#over) this.#killSandbox(pid);
  }

  /**
   * The first process in a sandbox takes all others along, and bwrap ends after it. Were bwrap ended
   * while it makes that one, it would wait for its signal to begin for ever.
   */
  #killSandbox(bwrap: number): void {
    freeze(bwrap);
    const [first] = generationsOf(bwrap);
    send('SIGKILL', first ?? [bwrap]);
    send('SIGCONT', [bwrap]);
  }

  /** Ids for signals that the program itself is to get; none: it has not begun. */
  #members(): number[] {
    const pid = this.child?.pid;
    if (pid === undefined) return [];
    return this.#launch.sandboxed ? generationsOf(pid).slice(1).flat() : [-pid];
  }
}
