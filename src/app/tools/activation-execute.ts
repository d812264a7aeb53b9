import { failure } from '../../core/failure.js';
import { isPlainObject } from '../../core/json.js';
import { nearestName, show } from '../../core/problem.js';
import type { CallableDocument, JsonObject } from '../../core/registry/model.js';
import { MOST_OF_CODE } from '../../core/registry/timeout.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Interpreter } from '../../ports/interpreter.js';
import { callHook, hookOf, wrongReturn } from './activation-hooks.js';
import type { ToolInput } from './input.js';

/** One run's input and the state that it runs with. */
export interface Prepared {
  kind: 'prepared';
  input: ToolInput;
  state?: unknown;
}

const FIELDS = ['args', 'subject', 'resource', 'slot', 'state'];

/** The input as the `execute` hook leaves it, in what time is left of the caller's. */
export async function runExecute(
  interpreter: Interpreter,
  document: CallableDocument,
  prepared: Prepared,
  left: number,
): Promise<Prepared | RunFailure> {
  const ms = Math.min(left, MOST_OF_CODE);
  if (!(ms > 0))
    return failure('deadline', `no time was left for ${hookOf(document, 'execute')}: its tool was not run`);
  const { input } = prepared;
  const given = { ...input, ...('state' in prepared ? { state: prepared.state } : {}) };
  const answer = await callHook(interpreter, document, 'execute', given as unknown as JsonObject, ms);
  if (answer.kind === 'failure') return answer;
  if (answer.value === null) return prepared;
  return changed(document, prepared, answer.value);
}

function changed(document: CallableDocument, prepared: Prepared, value: unknown): Prepared | RunFailure {
  const problem = isPlainObject(value) ? fieldProblem(value) : `an object, or nothing; found ${show(value)}`;
  if (problem !== undefined) return wrongReturn(document, 'execute', problem, value);
  const { state, ...fields } = value as Partial<ToolInput> & { state?: unknown };
  const input = { ...prepared.input, ...fields };
  return { ...prepared, input, ...(Object.hasOwn(value as object, 'state') ? { state } : {}) };
}

/** What the hook should have returned instead; undefined where nothing is wrong. */
function fieldProblem(value: Record<string, unknown>): string | undefined {
  const unknown = Object.keys(value).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown, FIELDS);
    const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    return `none but ${FIELDS.join(', ')}; found ${show(unknown)}${hint}`;
  }
  if (value.args !== undefined && !isPlainObject(value.args))
    return `args as an object; found ${show(value.args)}`;
  for (const field of ['resource', 'slot']) {
    const given = value[field];
    const isName = given === undefined || given === null || typeof given === 'string';
    if (!isName) return `${field} as a text or null; found ${show(given)}`;
  }
  return undefined;
}
