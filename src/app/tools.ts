import { failure } from '../core/failure.js';
import type { Lanes } from '../core/lanes.js';
import { argumentsOf, timeoutOf } from '../core/registry/closure.js';
import { type CallableDocument, isValidation, type ResolvedTool } from '../core/registry/model.js';
import { type RunnerKind, runnerKindOf } from '../core/registry/needs.js';
import { MOST_OF_CODE } from '../core/registry/timeout.js';
import type { ReadOnly } from '../core/result.js';
import type { RunFailure } from '../core/validators/validator.js';
import type { Interpreter, InterpreterAnswer } from '../ports/interpreter.js';
import type { Matcher } from '../ports/matcher.js';
import type { Ran, ToolRunners } from '../ports/runner.js';
import { callBuiltIn } from './built-in-call.js';
import type { Activations, Ready } from './tools/activations.js';
import { runGraph } from './tools/graph.js';
import type { ToolInput } from './tools/input.js';
import {
  brokenCode,
  brokenTransform,
  cleaned,
  isError,
  type Output,
  ofOutput,
  ofValue,
  ofVerdict,
  outputOf,
  restsOnNothing,
  type ToolAnswer,
} from './tools/returns.js';

export type { ToolInput } from './tools/input.js';
export type { ToolAnswer } from './tools/returns.js';

export interface ToolCallerDeps {
  interpreter: Interpreter;
  matcher: Matcher;
  tools: ToolRunners;
  activations: Activations;
}

/** A call under way: one budget for all of it. */
interface Call {
  tool: ResolvedTool;
  input: ToolInput;
  /** Milliseconds that are left of the tool's timeout. */
  left: number;
  /** Whether all that has run so far was kept from writing. */
  readOnly: ReadOnly;
  signal: AbortSignal;
  /** Of a node: where the nodes of the outermost graph take turns. */
  lanes?: Lanes;
}

/** Calls tools and validations, each with all that it wraps (ADR, Tool Wrapping; DESIGN 4.3, 6). */
export class ToolCaller {
  readonly #deps: ToolCallerDeps;
  readonly #running = new Set<Promise<unknown>>();

  constructor(deps: ToolCallerDeps) {
    this.#deps = deps;
  }

  /**
   * What the tool makes of the input, within its timeout. Messages and data of verdicts and failures
   * have no secrets; a plain tool's value comes as it is. Throws only when `signal` is aborted.
   */
  async call(tool: ResolvedTool, input: ToolInput, signal: AbortSignal): Promise<Ran<ToolAnswer>> {
    const call: Call = { tool, input, left: timeoutOf(tool), readOnly: 'enforced', signal };
    const work = this.#chain(call).catch(
      (error: Error): Output => failure('internal', `the call failed unexpectedly: ${error.message}`),
    );
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
    return { outcome: cleaned(await orStopped(work, signal)), readOnly: call.readOnly };
  }

  /** Waits for what was told to stop, deactivates tools, and ends what their runners keep. */
  async close(): Promise<void> {
    const { activations, tools } = this.#deps;
    await Promise.allSettled(this.#running);
    await activations.close();
    await Promise.allSettled(Object.values(tools.runners).map((runner) => runner.close()));
  }

  /** Of a wrapping validation, what its hooks leave of the input goes on to what it wraps. */
  async #chain(call: Call, input = call.input, depth = 0): Promise<Output> {
    const document = call.tool.chain[depth] as CallableDocument;
    const ready = await this.#ready(call, document, input);
    if (ready.kind === 'failure') return ready;
    try {
      if (depth === call.tool.chain.length - 1) return await this.#innermost(call, document, ready);
      const args = argumentsOf({ chain: [document] }, 1, ready.input.args);
      const output = await this.#chain(call, { ...ready.input, args }, depth + 1);
      // An error goes out as it is: what wraps it interprets outputs, and there is none.
      return isError(output) ? output : await this.#transform(call, document, ready, output);
    } finally {
      ready.done();
    }
  }

  async #innermost(call: Call, document: CallableDocument, ready: Ready): Promise<Output> {
    const { input } = ready;
    const kind = runnerKindOf(document);
    if (kind !== undefined) return this.#run(call, kind, document, ready);
    if (document.source === 'graph') return this.#graph(call, document, input);
    if (document.source === 'builtin') {
      const verdict = await timed(call, () =>
        callBuiltIn(document, input.args, input.subject, this.#deps.matcher),
      );
      return 'kind' in verdict ? verdict : ofVerdict(document, verdict);
    }
    if (document.code === undefined) return failure('internal', `${document.name} has no code`);
    const answer = await this.#interpreted(call, document.code, [{ ...input, ...stateOf(ready) }]);
    if (answer.ok) return ofValue(document, answer.value, false);
    return brokenCode(document, answer);
  }

  async #ready(call: Call, document: CallableDocument, input: ToolInput): Promise<Ready | RunFailure> {
    if (Object.keys(document.lifecycle).length === 0) return { kind: 'ready', input, done() {} };
    return timed(call, () => this.#deps.activations.ready(document, input, call.left));
  }

  async #run(call: Call, kind: RunnerKind, document: CallableDocument, ready: Ready): Promise<Output> {
    const { runners, missing } = this.#deps.tools;
    const runner = runners[kind];
    if (runner === undefined) return noRunner(document, kind, missing[kind]);
    if (!(call.left > 0)) return failure('deadline', `${document.name} was not run: no time was left for it`);
    const run = { document, ...ready.input, ...stateOf(ready), deadlineMs: call.left };
    const { outcome, readOnly } = await timed(call, () => runner.run(run, call.signal));
    if (readOnly === 'declared') call.readOnly = readOnly;
    return ofOutput(document, outcome);
  }

  async #graph(call: Call, document: CallableDocument, input: ToolInput): Promise<Output> {
    const nodes = call.tool.nodes ?? {};
    const { signal, lanes: around } = call;
    const lanes = around === undefined ? {} : { lanes: around };
    const graph = { document, nodes, input, deadlineMs: call.left, ...lanes };
    const { outcome, readOnly } = await timed(call, () =>
      runGraph(graph, (tool, given, deadlineMs, shared) =>
        this.#node(tool, given, deadlineMs, { signal, lanes: shared }),
      ),
    );
    if (readOnly === 'declared') call.readOnly = readOnly;
    return outcome;
  }

  async #node(
    tool: ResolvedTool,
    input: ToolInput,
    deadlineMs: number,
    shared: Required<Pick<Call, 'signal' | 'lanes'>>,
  ): Promise<Ran<ToolAnswer>> {
    const left = Math.min(deadlineMs, timeoutOf(tool));
    const call: Call = { tool, input, left, readOnly: 'enforced', ...shared };
    const outcome = cleaned(await this.#chain(call));
    return { outcome, readOnly: call.readOnly };
  }

  async #transform(call: Call, document: CallableDocument, ready: Ready, inner: Output): Promise<Output> {
    if (!isValidation(document) || document.transform === undefined)
      return failure('internal', `${document.name} wraps a tool without a transform`);
    const { args, subject, resource } = ready.input;
    const given = [outputOf(inner), { args, subject, resource, ...stateOf(ready) }];
    const answer = await this.#interpreted(call, document.transform, given);
    if (!answer.ok) return brokenTransform(document, answer);
    return ofValue(document, answer.value, restsOnNothing(inner));
  }

  /** What others had in hand before is not the tool's fault: only its own time counts. */
  async #interpreted(call: Call, source: string, given: readonly unknown[]): Promise<InterpreterAnswer> {
    const answer = await this.#deps.interpreter.call(source, given, Math.min(call.left, MOST_OF_CODE));
    call.left -= answer.ms ?? 0;
    return answer;
  }
}

/** As an optional property: only a tool with an `activate` hook has a state. */
function stateOf(ready: Ready): { state?: unknown } {
  return 'state' in ready ? { state: ready.state } : {};
}

async function timed<T>(call: Call, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await work();
  } finally {
    call.left -= performance.now() - started;
  }
}

function noRunner({ name }: CallableDocument, kind: RunnerKind, why: string | undefined): RunFailure {
  const reason = why ?? `this worker has no runner for it (${kind})`;
  return failure('no_runner', `${name} was not run: ${reason}`);
}

/** A worker that is to stop leaves its checks to another: that is no result of theirs. */
function orStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('stopped: the worker is shutting down'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
