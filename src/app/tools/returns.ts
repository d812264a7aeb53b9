import { failure } from '../../core/failure.js';
import { formatProblem } from '../../core/problem.js';
import { redact, redactDeep } from '../../core/redact.js';
import { schemaProblems } from '../../core/registry/json-schema.js';
import { type CallableDocument, isValidation } from '../../core/registry/model.js';
import { markVacuous } from '../../core/scenario/checks.js';
import { normalizeReturn, rawOutput } from '../../core/settle.js';
import type { RunFailure, Verdict } from '../../core/validators/validator.js';
import type { InterpreterAnswer } from '../../ports/interpreter.js';
import type { ToolOutput } from '../../ports/runner.js';

/** A plain tool brings a value, as it is; a validation a verdict. A failure is neither pass nor fail. */
export type ToolAnswer =
  | { kind: 'value'; value: unknown }
  | { kind: 'verdict'; verdict: Verdict }
  | RunFailure;

/** What one document of a chain came to; `noData` when that rests on data that is not there. */
export type Output =
  | { kind: 'value'; value: unknown; noData: boolean }
  | Exclude<ToolAnswer, { kind: 'value' }>;

/** Longest message of a verdict or a failure, in UTF-16 units. */
const MOST_MESSAGE = 4000;

export function isError(output: Output): boolean {
  return output.kind === 'failure' || (output.kind === 'verdict' && output.verdict.outcome === 'error');
}

export function restsOnNothing(output: Output): boolean {
  if (output.kind === 'verdict') return output.verdict.noData === true;
  return output.kind === 'value' && output.noData;
}

/** The structured return of a validation (ADR), for what wraps it or calls it as a tool. */
const structured = ({ outcome, message, data }: Verdict) => ({ passed: outcome === 'pass', message, data });

/** What the transform around gets as `tool_output`. */
export function outputOf(output: Output): unknown {
  if (output.kind === 'verdict') return structured(output.verdict);
  return output.kind === 'value' ? output.value : undefined;
}

/** A built-in validator's verdict, which is the value of the plain tool around it. */
export function ofVerdict(document: CallableDocument, verdict: Verdict): Output {
  if (isValidation(document)) return againstSchema(document, { kind: 'verdict', verdict });
  const { outcome, message, data, noData } = verdict;
  if (outcome === 'error') {
    const { reason, ...evidence } = data;
    const isTold = Object.keys(evidence).length > 0;
    return failure(typeof reason === 'string' ? reason : 'validator', message, isTold ? evidence : undefined);
  }
  return againstSchema(document, { kind: 'value', value: structured(verdict), noData: noData === true });
}

/** What a runner brought back: of a validation, a value is its structured return. */
export function ofOutput(document: CallableDocument, output: ToolOutput): Output {
  if (output.kind === 'failure') return output;
  if (output.kind === 'verdict') return ofVerdict(document, output.verdict);
  return ofValue(document, output.value, output.noData === true);
}

/** What a function returned: any value of a plain tool, the structured return of a validation. */
export function ofValue(document: CallableDocument, value: unknown, noData: boolean): Output {
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
  const message = `the output of ${document.name} does not fit its output_schema: ${shown}`;
  return failure('output_schema', message, { raw_output: rawOutput(outputOf(output)) });
}

type Broken = Extract<InterpreterAnswer, { ok: false }>;

export function brokenCode(document: CallableDocument, { reason, message }: Broken): Output {
  const whole = `${document.name}: ${reason === 'threw' ? `threw ${message}` : message}`;
  if (reason === 'malformed' && isValidation(document)) return malformed(whole);
  return failure(reason, whole);
}

/** Whose fault it is, where it is the transform's. */
export function brokenTransform(document: CallableDocument, { reason, message }: Broken): Output {
  const whole = `the transform of ${document.name}: ${reason === 'threw' ? `threw ${message}` : message}`;
  if (reason === 'malformed') return malformed(whole);
  return failure(reason === 'deadline' || reason === 'internal' ? reason : 'transform', whole);
}

/** A return that JSON cannot carry; what it was is all that is left of it (DESIGN 3.5). */
function malformed(message: string): Output {
  const data = { reason: 'malformed', raw_output: message };
  return { kind: 'verdict', verdict: { outcome: 'error', message: `malformed return: ${message}`, data } };
}

function cut(message: string): string {
  return message.length <= MOST_MESSAGE ? message : `${message.slice(0, MOST_MESSAGE)}…`;
}

export function cleaned(output: Output): ToolAnswer {
  if (output.kind === 'value') return { kind: 'value', value: output.value };
  if (output.kind === 'failure') {
    const { data } = output;
    const evidence = data === undefined ? {} : { data: redactDeep(data) as Record<string, unknown> };
    return { ...output, message: cut(redact(output.message)), ...evidence };
  }
  const verdict = markVacuous(output.verdict);
  const message = cut(redact(verdict.message));
  const data = redactDeep(verdict.data) as Record<string, unknown>;
  return { kind: 'verdict', verdict: { ...verdict, message, data } };
}
