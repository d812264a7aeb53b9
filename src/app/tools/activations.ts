import type { CallableDocument, JsonObject } from '../../core/registry/model.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Interpreter } from '../../ports/interpreter.js';
import type { ToolInput } from '../tools.js';

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
}

/** Keeps what tools were activated with, once per version of a document, until the worker ends. */
export class Activations {
  constructor(_deps: { interpreter: Interpreter; host: JsonObject & Host }) {}

  /** Makes the tool ready; the time of its hooks counts against `deadlineMs`. */
  async ready(
    _document: CallableDocument,
    input: ToolInput,
    _deadlineMs: number,
  ): Promise<Ready | RunFailure> {
    return { kind: 'ready', input };
  }

  /** Deactivates everything that was activated; never throws. */
  async close(): Promise<void> {}
}
