import { digestOf } from '../../core/digest.js';
import { failure } from '../../core/failure.js';
import type { CallableDocument, JsonObject } from '../../core/registry/model.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Interpreter } from '../../ports/interpreter.js';
import { inTime } from '../in-time.js';
import { type Prepared, runExecute } from './activation-execute.js';
import { ToolVersion, type VersionDeps } from './activation-version.js';
import type { ToolInput } from './input.js';

/** Versions whose state a worker keeps; beyond that, what was not used for the longest time goes. */
const MOST_VERSIONS = 200;
/** Milliseconds without a call after which a version is deactivated. */
const IDLE_MS = 600_000;

/** What `discover` and `activate` are told of this worker. */
export interface Host {
  /** As in the roster: `command`, `ansible` and so on. */
  serves: readonly string[];
  platform: string;
  arch: string;
  node: string;
}

/** A tool made ready for one run. */
export interface Ready {
  kind: 'ready';
  /** As the `execute` hook left it. */
  input: ToolInput;
  /** What `activate` returned; absent: it has none. */
  state?: unknown;
  /** To be called when the run has ended: until then its state stays activated. */
  done: () => void;
}

export interface ActivationsDeps {
  interpreter: Interpreter;
  host: JsonObject & Host;
  /** Told of `deactivate` hooks that failed; must not throw. */
  onError?: (error: Error) => void;
}

/** A version that is in use, or was not long ago. */
interface Open {
  version: ToolVersion;
  users: number;
  idle: NodeJS.Timeout | undefined;
}

/** Keeps what tools were activated with, once per version of a document, until the worker ends. */
export class Activations {
  readonly #deps: VersionDeps;
  /** By digest of the document, those used last at the end. */
  readonly #open = new Map<string, Open>();
  /** Deactivations on their way, by digest. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #digests = new WeakMap<CallableDocument, string>();
  #closed = false;

  constructor({ onError = () => {}, ...deps }: ActivationsDeps) {
    this.#deps = { ...deps, onError };
  }

  /**
   * Makes the tool ready within `deadlineMs`, in which all its hooks must have run; activating goes on
   * without a caller whose time is up, for the next. Never throws.
   */
  async ready(document: CallableDocument, input: ToolInput, deadlineMs: number): Promise<Ready | RunFailure> {
    const { name } = document;
    if (this.#closed) return failure('stopped', `${name} was not run: the worker is ending`);
    if (!(deadlineMs > 0)) return failure('deadline', `${name} was not run: no time was left for it`);
    const digest = this.#digestOf(document);
    const open = this.#use(document, digest);
    const done = once(() => this.#release(digest, open));
    const work = this.#prepare(open.version, document, input, deadlineMs);
    this.#running.add(work);
    const prepared = await work.finally(() => this.#running.delete(work));
    if (prepared.kind === 'prepared') return { ...prepared, kind: 'ready', done };
    done();
    return prepared;
  }

  /** Waits for what is being made ready, then deactivates everything that was activated; never throws. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
    for (const [digest, open] of [...this.#open]) this.#drop(digest, open);
    await Promise.allSettled(this.#ending.values());
  }

  async #prepare(
    version: ToolVersion,
    document: CallableDocument,
    input: ToolInput,
    deadlineMs: number,
  ): Promise<Prepared | RunFailure> {
    const ends = performance.now() + deadlineMs;
    const opened = await inTime(version.open(), deadlineMs, () => 'late' as const);
    if (opened === 'late') {
      const message = `${document.name} was not run: its hooks did not end within ${Math.round(deadlineMs)} ms`;
      return failure('deadline', message);
    }
    if (opened.kind === 'failure') return opened;
    const prepared: Prepared = { ...opened, kind: 'prepared', input };
    if (document.lifecycle.execute === undefined) return prepared;
    return runExecute(this.#deps.interpreter, document, prepared, ends - performance.now());
  }

  #digestOf(document: CallableDocument): string {
    const known = this.#digests.get(document) ?? digestOf(document);
    this.#digests.set(document, known);
    return known;
  }

  #use(document: CallableDocument, digest: string): Open {
    const known = this.#open.get(digest);
    const after = this.#ending.get(digest);
    const open = known ?? {
      version: new ToolVersion(this.#deps, document, digest, after),
      users: 0,
      idle: undefined,
    };
    clearTimeout(open.idle);
    open.users += 1;
    this.#open.delete(digest);
    this.#open.set(digest, open);
    this.#makeRoom();
    return open;
  }

  #release(digest: string, open: Open): void {
    open.users -= 1;
    if (open.users > 0 || this.#open.get(digest) !== open) return;
    open.idle = setTimeout(() => this.#drop(digest, open), IDLE_MS).unref();
    this.#makeRoom();
  }

  /** What is in use stays, however many there are. */
  #makeRoom(): void {
    for (const [digest, open] of this.#open) {
      if (this.#open.size <= MOST_VERSIONS) return;
      if (open.users === 0) this.#drop(digest, open);
    }
  }

  #drop(digest: string, open: Open): void {
    clearTimeout(open.idle);
    this.#open.delete(digest);
    const before = this.#ending.get(digest);
    const ending = Promise.allSettled([before, open.version.end()]).then(() => {
      if (this.#ending.get(digest) === ending) this.#ending.delete(digest);
    });
    this.#ending.set(digest, ending);
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
