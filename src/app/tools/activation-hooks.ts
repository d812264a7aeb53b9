import { failure } from '../../core/failure.js';
import type { CallableDocument, JsonObject, LifecycleHooks } from '../../core/registry/model.js';
import { rawOutput } from '../../core/settle.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Interpreter, InterpreterAnswer } from '../../ports/interpreter.js';

export type HookName = keyof LifecycleHooks;

/** What a hook returned, or why it returned nothing that could be used. */
export type HookAnswer = { kind: 'value'; value: unknown } | RunFailure;

/** A hook that returns nothing, as many do, returns null: JSON has no undefined. */
const lenient = (source: string) =>
  `(given) => { const value = (${source}\n)(given); return value === undefined ? null : value; }`;

/**
 * Calls a hook that the document has, for at most `ms` once its turn has come. A failure has the hook's
 * name for its reason, but where the caller's time was up or the interpreter itself was the trouble.
 */
export async function callHook(
  interpreter: Interpreter,
  document: CallableDocument,
  hook: HookName,
  given: JsonObject,
  ms: number,
): Promise<HookAnswer> {
  const source = document.lifecycle[hook] ?? '';
  const answer = await interpreter.call(lenient(source), [given], ms);
  return answer.ok ? { kind: 'value', value: answer.value } : brokenHook(document, hook, answer);
}

function brokenHook(
  document: CallableDocument,
  hook: HookName,
  { reason, message }: Extract<InterpreterAnswer, { ok: false }>,
): RunFailure {
  const whole = `${hookOf(document, hook)}${reason === 'threw' ? ` threw ${message}` : `: ${message}`}`;
  // Only `execute` has no other limit than the caller's.
  const isLate = hook === 'execute' && reason === 'deadline';
  return failure(isLate || reason === 'internal' ? reason : hook, whole);
}

/** The hook in words, for messages. */
export const hookOf = ({ name }: CallableDocument, hook: HookName): string => `the ${hook} hook of ${name}`;

/** A hook that returned what it may not, which is kept as evidence. */
export function wrongReturn(
  document: CallableDocument,
  hook: HookName,
  problem: string,
  value: unknown,
): RunFailure {
  const data = { raw_output: rawOutput(value) };
  return failure(hook, `${hookOf(document, hook)} must return ${problem}`, data);
}

/**
 * What hooks are told of their tool: its document without its sources and files, which may be large, and
 * its version.
 */
export function toolFor(document: CallableDocument, version: string): JsonObject {
  const { lifecycle, files, code, transform, ...rest } = document as unknown as JsonObject;
  return { ...rest, version };
}
