import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, sep } from 'node:path';
import { execa } from 'execa';
import type { AnsibleOutcome, AnsibleRequest, RunFailure } from '../core/validators/validator.js';
import type { AnsibleRunner, Bundle, Ran } from '../ports/runner.js';

export interface AnsibleSettings {
  /** Milliseconds until SIGTERM; SIGKILL follows after `graceMs`. */
  deadlineMs: number;
  graceMs: number;
  /** Bytes of output kept: the head and the tail. */
  outputCap: number;
}

const EXTRA_VARS = '.sluice-extra-vars.json';

function failure(reason: string, message: string): RunFailure {
  return { kind: 'failure', reason, message };
}

/** Head and tail of a stream that may be far larger. */
class CappedText {
  readonly #half: number;
  #head = '';
  #tail = '';
  #dropped = 0;

  constructor(cap: number) {
    this.#half = Math.max(1, Math.floor(cap / 2));
  }

  push(text: string): void {
    const room = this.#half - this.#head.length;
    this.#head += text.slice(0, Math.max(0, room));
    const tail = this.#tail + text.slice(Math.max(0, room));
    this.#dropped += Math.max(0, tail.length - this.#half);
    this.#tail = tail.slice(-this.#half);
  }

  toString(): string {
    const gap = this.#dropped > 0 ? `\n... ${this.#dropped} characters left out ...\n` : '';
    return this.#head + gap + this.#tail;
  }
}

async function unpack(bundle: Bundle, folder: string): Promise<void> {
  for (const [path, content] of Object.entries(bundle.files)) {
    const target = normalize(join(folder, path));
    if (!target.startsWith(folder + sep))
      throw new Error(`the bundle has a file outside its folder: ${path}`);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, Buffer.from(content, 'base64'));
  }
}

function argumentsFor(request: AnsibleRequest): string[] {
  const inventory =
    request.inventory === undefined ? ['-i', 'localhost,', '-c', 'local'] : ['-i', request.inventory];
  const limit = request.hosts === undefined ? [] : ['--limit', request.hosts];
  const vars = request.extraVars === undefined ? [] : ['-e', `@${EXTRA_VARS}`];
  return [...inventory, ...limit, ...vars, '--', request.playbook];
}

/** Runs ansible-playbook with a deadline and an output cap, in a folder of its own. */
export class LocalAnsibleRunner implements AnsibleRunner {
  readonly #settings: AnsibleSettings;

  constructor(settings: AnsibleSettings) {
    this.#settings = settings;
  }

  async run(
    request: AnsibleRequest,
    bundle: Bundle,
    signal: AbortSignal,
  ): Promise<Ran<AnsibleOutcome | RunFailure>> {
    return { outcome: await this.#run(request, bundle, signal), readOnly: 'declared' };
  }

  async #run(
    request: AnsibleRequest,
    bundle: Bundle,
    signal: AbortSignal,
  ): Promise<AnsibleOutcome | RunFailure> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-ansible-'));
    try {
      await unpack(bundle, folder);
      if (request.extraVars !== undefined) {
        await writeFile(join(folder, EXTRA_VARS), JSON.stringify(request.extraVars));
      }
      return await this.#play(request, folder, signal);
    } catch (error) {
      return failure('internal', `the playbook could not be run: ${(error as Error).message}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #play(
    request: AnsibleRequest,
    folder: string,
    signal: AbortSignal,
  ): Promise<AnsibleOutcome | RunFailure> {
    const started = performance.now();
    const child = execa('ansible-playbook', argumentsFor(request), {
      cwd: folder,
      extendEnv: false,
      env: environment(folder),
      stdin: 'ignore',
      buffer: false,
      reject: false,
      detached: true,
    });
    const stdout = new CappedText(this.#settings.outputCap);
    const stderr = new CappedText(this.#settings.outputCap);
    child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
    let timedOut = false;
    const stop = () => stopGroup(child.pid, this.#settings.graceMs);
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, this.#settings.deadlineMs);
    signal.addEventListener('abort', stop, { once: true });
    const ended = await whileLiving(child.pid, child);
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    if (signal.aborted) throw new Error('stopped: the worker is shutting down');
    if (ended.exitCode === undefined && ended.signal === undefined) {
      const missing = (ended as { code?: string }).code === 'ENOENT';
      return missing
        ? failure(
            'not_installed',
            'ansible-playbook is not installed on this worker; `sluice doctor` says how to get it',
          )
        : failure('not_started', `ansible-playbook did not start: ${ended.message ?? 'unknown reason'}`);
    }
    return {
      kind: 'ansible',
      exitCode: ended.exitCode ?? null,
      ...(ended.signal === undefined ? {} : { signal: ended.signal }),
      timedOut,
      stdout: stdout.toString(),
      stderr: stderr.toString(),
      durationMs: performance.now() - started,
    };
  }
}

/** Only what Ansible needs, nothing of ours: no secrets reach a playbook by accident. */
function environment(folder: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    LANG: 'C.UTF-8',
    ANSIBLE_LOCAL_TEMP: join(folder, '.ansible-local'),
    ANSIBLE_REMOTE_TEMP: join(folder, '.ansible-remote'),
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_RETRY_FILES_ENABLED: '0',
    ANSIBLE_LOCALHOST_WARNING: '0',
    ANSIBLE_DEPRECATION_WARNINGS: '0',
  };
}

const living = new Set<number>();

/** A playbook has a group of its own, which this process must not leave behind when it ends at once. */
function endGroups(): void {
  for (const pid of living) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group is gone already.
    }
  }
}

async function whileLiving<T>(pid: number | undefined, ended: PromiseLike<T>): Promise<T> {
  if (pid === undefined) return ended;
  if (living.size === 0) process.once('exit', endGroups);
  living.add(pid);
  try {
    return await ended;
  } finally {
    living.delete(pid);
    if (living.size === 0) process.off('exit', endGroups);
  }
}

/** SIGTERM to the whole group, SIGKILL when it is still there after the grace. */
function stopGroup(pid: number | undefined, graceMs: number): void {
  if (pid === undefined) return;
  const send = (name: NodeJS.Signals) => {
    try {
      process.kill(-pid, name);
    } catch {
      // The group is gone already.
    }
  };
  send('SIGTERM');
  setTimeout(() => send('SIGKILL'), graceMs).unref();
}
