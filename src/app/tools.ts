import { formatProblem } from '../core/problem.js';
import { redact, redactDeep } from '../core/redact.js';
import { argumentsOf, timeoutOf } from '../core/registry/closure.js';
import { schemaProblems } from '../core/registry/json-schema.js';
import {
  type CallableDocument,
  isValidation,
  type JsonObject,
  type ResolvedTool,
} from '../core/registry/model.js';
import { MOST_OF_CODE } from '../core/registry/timeout.js';
import { markVacuous } from '../core/scenario/checks.js';
import { normalizeReturn } from '../core/settle.js';
import type { RunFailure, Verdict } from '../core/validators/validator.js';
import type { Interpreter, InterpreterAnswer } from '../ports/interpreter.js';
import type { Matcher } from '../ports/matcher.js';
import { callBuiltIn } from './built-in-call.js';

/** What a tool is called with. */
export interface ToolInput {
  args: JsonObject;
  /** The resource's snapshot, any JSON. */
  subject: unknown;
  resource: string | null;
  /** Slot that the resource is bound to. */
  slot: string | null;
}

/** A plain tool brings a value, as it is; a validation a verdict. A failure is neither pass nor fail. */
export type ToolAnswer =
  | { kind: 'value'; value: unknown }
  | { kind: 'verdict'; verdict: Verdict }
  | RunFailure;

export interface ToolCallerDeps {
  interpreter: Interpreter;
  matcher: Matcher;
}

/** Longest message of a verdict or a failure, in UTF-16 units. */
const MOST_MESSAGE = 4000;

/** What one document of a chain came to; `noData` when that rests on data that is not there. */
type Output = { kind: 'value'; value: unknown; noData: boolean } | Exclude<ToolAnswer, { kind: 'value' }>;

/** A call under way: one budget for all of it. */
interface Call {
  tool: ResolvedTool;
  input: ToolInput;
  /** Milliseconds that are left of the tool's timeout. */
  left: number;
}

const failure = (reason: string, message: string): RunFailure => ({ kind: 'failure', reason, message });

/** Calls tools and validations, each with all that it wraps (ADR, Tool Wrapping; DESIGN 4.3). */
export class ToolCaller {
  readonly #deps: ToolCallerDeps;

  constructor(deps: ToolCallerDeps) {
    this.#deps = deps;
  }

  /**
   * What the tool makes of the input, within its timeout. Messages and data of verdicts and failures
   * have no secrets; a plain tool's value comes as it is. Throws only when `signal` is aborted.
   */
  async call(tool: ResolvedTool, input: ToolInput, signal: AbortSignal): Promise<ToolAnswer> {
    const work = this.#chain({ tool, input, left: timeoutOf(tool) }).catch(
      (error: Error): Output => failure('internal', `the call failed unexpectedly: ${error.message}`),
    );
    return cleaned(await orStopped(work, signal));
  }

  async #chain(call: Call): Promise<Output> {
    const { chain } = call.tool;
    let depth = chain.length - 1;
    let output = await this.#innermost(call, chain[depth] as CallableDocument, depth);
    // An error goes out as it is: what wraps it interprets outputs, and there is none.
    while (depth > 0 && !isError(output)) {
      depth -= 1;
      output = await this.#transform(call, chain[depth] as CallableDocument, depth, output);
    }
    return output;
  }

  async #innermost(call: Call, document: CallableDocument, depth: number): Promise<Output> {
    const { input, tool } = call;
    const args = argumentsOf(tool, depth, input.args);
    if (document.source === 'builtin') {
      const started = performance.now();
      const verdict = await callBuiltIn(document, args, input.subject, this.#deps.matcher);
      call.left -= performance.now() - started;
      return 'kind' in verdict ? verdict : ofVerdict(document, verdict);
    }
    if (document.source !== 'code' || document.code === undefined) return noRunner(document);
    const { subject, resource, slot } = input;
    const given = [{ args, subject, resource, slot }];
    const answer = await this.#interpreted(call, document.code, given);
    if (answer.ok) return ofValue(document, answer.value, false);
    return brokenCode(document, answer);
  }

  async #transform(call: Call, document: CallableDocument, depth: number, inner: Output): Promise<Output> {
    if (!isValidation(document) || document.transform === undefined)
      return failure('internal', `${document.name} wraps a tool without a transform`);
    const { input, tool } = call;
    const args = argumentsOf(tool, depth, input.args);
    const { subject, resource } = input;
    const given = [outputOf(inner), { args, subject, resource }];
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

function noRunner({ name, source }: CallableDocument): RunFailure {
  return failure(
    'no_runner',
    `${name} was not run: this version of Sluice has no runner for ${source} tools`,
  );
}

function isError(output: Output): boolean {
  return output.kind === 'failure' || (output.kind === 'verdict' && output.verdict.outcome === 'error');
}

function restsOnNothing(output: Output): boolean {
  if (output.kind === 'verdict') return output.verdict.noData === true;
  return output.kind === 'value' && output.noData;
}

/** The structured return of a validation (ADR), for what wraps it or calls it as a tool. */
const structured = ({ outcome, message, data }: Verdict) => ({ passed: outcome === 'pass', message, data });

/** What the transform around gets as `tool_output`. */
function outputOf(output: Output): unknown {
  if (output.kind === 'verdict') return structured(output.verdict);
  return output.kind === 'value' ? output.value : undefined;
}

/** A built-in validator's verdict, which is the value of the plain tool around it. */
function ofVerdict(document: CallableDocument, verdict: Verdict): Output {
  if (isValidation(document)) return againstSchema(document, { kind: 'verdict', verdict });
  const { outcome, message, data, noData } = verdict;
  if (outcome === 'error')
    return failure(typeof data.reason === 'string' ? data.reason : 'validator', message);
  return againstSchema(document, { kind: 'value', value: structured(verdict), noData: noData === true });
}

/** What a function returned: any value of a plain tool, the structured return of a validation. */
function ofValue(document: CallableDocument, value: unknown, noData: boolean): Output {
  if (!isValidation(document)) return againstSchema(document, { kind: 'value', value, noData });
  const verdict = normalizeReturn(value);
  if (verdict.outcome === 'error') return { kind: 'verdict', verdict };
  return againstSchema(document, { kind: 'verdict', verdict: noData ? { ...verdict, noData } : verdict });
}

function againstSchema(document: CallableDocument, output: Output): Output {
  if (document.output_schema === undefined || isError(output)) return output;
  const problems = schemaProblems(document.output_schema, outputOf(output), '');
  if (problems.length === 0) return output;
  const shown = problems.slice(0, 5).map(formatProblem).join('; ');
  return failure('output_schema', `the output of ${document.name} does not fit its output_schema: ${shown}`);
}

type Broken = Extract<InterpreterAnswer, { ok: false }>;

function brokenCode(document: CallableDocument, { reason, message }: Broken): Output {
  const whole = `${document.name}: ${reason === 'threw' ? `threw ${message}` : message}`;
  if (reason === 'malformed' && isValidation(document)) return malformed(whole);
  return failure(reason, whole);
}

/** Whose fault it is, where it is the transform's. */
function brokenTransform(document: CallableDocument, { reason, message }: Broken): Output {
  const whole = `the transform of ${document.name}: ${reason === 'threw' ? `threw ${message}` : message}`;
  if (reason === 'malformed') return malformed(whole);
  return failure(reason === 'deadline' || reason === 'internal' ? reason : 'transform', whole);
}

/** A return that JSON cannot carry; what it was is all that is left of it (DESIGN 3.5). */
function malformed(message: string): Output {
  return {
    kind: 'verdict',
    verdict: { outcome: 'error', message: `malformed return: ${message}`, data: { raw_output: message } },
  };
}

function cut(message: string): string {
  return message.length <= MOST_MESSAGE ? message : `${message.slice(0, MOST_MESSAGE)}…`;
}

function cleaned(output: Output): ToolAnswer {
  if (output.kind === 'value') return { kind: 'value', value: output.value };
  if (output.kind === 'failure') return { ...output, message: cut(redact(output.message)) };
  const verdict = markVacuous(output.verdict);
  const message = cut(redact(verdict.message));
  const data = redactDeep(verdict.data) as Record<string, unknown>;
  return { kind: 'verdict', verdict: { ...verdict, message, data } };
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
