import { failure } from '../../core/failure.js';
import type { CallableDocument, JsonObject } from '../../core/registry/model.js';
import { MOST_OF_CODE } from '../../core/registry/timeout.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Interpreter } from '../../ports/interpreter.js';
import { callHook, hookOf, toolFor, wrongReturn } from './activation-hooks.js';

/** Milliseconds after which a tool that could not run here is asked again. */
const ASK_AGAIN_MS = 60_000;
/** Milliseconds for which calls get the failure of a hook before it is tried again. */
const PAUSE_MS = 1_000;
/** Milliseconds that a `deactivate` hook may take: a worker that ends waits for it. */
const DEACTIVATE_MS = 1_000;

type Answer = { kind: 'state'; state?: unknown } | RunFailure;

/** Asks once for all who want to know; what is not to last is asked for again after its time. */
class Kept {
  #answer: Promise<Answer> | undefined;
  #until = Number.POSITIVE_INFINITY;

  /** `lasts`: milliseconds that an answer is good for. */
  get(ask: () => Promise<Answer>, lasts: (answer: Answer) => number): Promise<Answer> {
    if (this.#answer !== undefined && performance.now() < this.#until) return this.#answer;
    this.#until = Number.POSITIVE_INFINITY;
    this.#answer = ask().then((answer) => {
      this.#until = performance.now() + lasts(answer);
      return answer;
    });
    return this.#answer;
  }

  /** The last answer, or the one on its way; undefined when nobody has asked. */
  get last(): Promise<Answer> | undefined {
    return this.#answer;
  }
}

export interface VersionDeps {
  interpreter: Interpreter;
  host: JsonObject;
  /** Told of hooks that fail when nobody waits for them. */
  onError: (error: Error) => void;
}

/** One version of a tool on this worker: found to run here, activated once, and deactivated once. */
export class ToolVersion {
  readonly #deps: VersionDeps;
  readonly #document: CallableDocument;
  readonly #tool: JsonObject;
  readonly #after: Promise<void> | undefined;
  readonly #found = new Kept();
  readonly #made = new Kept();
  #ended = false;

  /** `after`: the end of an earlier activation of the same version. */
  constructor(deps: VersionDeps, document: CallableDocument, digest: string, after?: Promise<void>) {
    this.#deps = deps;
    this.#document = document;
    this.#tool = toolFor(document, digest);
    this.#after = after;
  }

  /** What it was activated with; `state` is absent without an `activate` hook. Never rejects. */
  async open(): Promise<Answer> {
    const { discover, activate } = this.#document.lifecycle;
    if (discover !== undefined) {
      const found = await this.#found.get(() => this.#discover(), askAgain);
      if (found.kind === 'failure') return found;
    }
    if (activate === undefined) return { kind: 'state' };
    // The worker has ended meanwhile: what would be activated now, nobody would deactivate.
    if (this.#ended)
      return failure('stopped', `${this.#document.name} was not activated: the worker is ending`);
    return this.#made.get(() => this.#activate(), tryAgain);
  }

  /** Deactivates it if it was ever activated; once, and after `open` has been called for the last time. */
  async end(): Promise<void> {
    this.#ended = true;
    const made = await this.#made.last;
    if (made?.kind !== 'state' || this.#document.lifecycle.deactivate === undefined) return;
    const given = { tool: this.#tool, state: made.state } as JsonObject;
    const answer = await this.#call('deactivate', given, DEACTIVATE_MS);
    if (answer.kind === 'failure') this.#deps.onError(new Error(answer.message));
  }

  async #discover(): Promise<Answer> {
    const { host } = this.#deps;
    const answer = await this.#call('discover', { tool: this.#tool, host }, MOST_OF_CODE);
    if (answer.kind === 'failure') return answer;
    const { value } = answer;
    if (value === true) return { kind: 'state' };
    if (value !== false && typeof value !== 'string')
      return wrongReturn(this.#document, 'discover', 'true, false or why not', value);
    const why = value === false || value === '' ? `${hookOf(this.#document, 'discover')} says so` : value;
    return failure('not_available', `${this.#document.name} cannot run on this worker: ${why}`);
  }

  async #activate(): Promise<Answer> {
    await this.#after;
    const { host } = this.#deps;
    const answer = await this.#call('activate', { tool: this.#tool, host }, MOST_OF_CODE);
    return answer.kind === 'failure' ? answer : { kind: 'state', state: answer.value };
  }

  /** An interpreter that breaks its promise not to throw must keep nobody waiting. */
  #call(...[hook, given, ms]: [Parameters<typeof callHook>[2], JsonObject, number]) {
    return callHook(this.#deps.interpreter, this.#document, hook, given, ms).catch(
      (error: Error): RunFailure => failure('internal', `${hookOf(this.#document, hook)}: ${error.message}`),
    );
  }
}

function askAgain(answer: Answer): number {
  if (answer.kind !== 'failure') return Number.POSITIVE_INFINITY;
  return answer.reason === 'not_available' ? ASK_AGAIN_MS : PAUSE_MS;
}

function tryAgain(answer: Answer): number {
  return answer.kind === 'failure' ? PAUSE_MS : Number.POSITIVE_INFINITY;
}
