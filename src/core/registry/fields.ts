import type { z } from 'zod';
import { isPlainObject } from '../json.js';
import { nearestName, show } from '../problem.js';
import { issueProblem } from '../scenario/issues.js';
import { childPath } from '../scenario/json-scan.js';
import { isExtension } from '../scenario/schema.js';
import type { CodedProblem, RegistryCode } from './codes.js';

/** Takes a problem, still without its file. */
export type Report = (problem: CodedProblem) => void;

export type Raw = Readonly<Record<string, unknown>>;
export type Shape = Readonly<Record<string, z.ZodType>>;

const CODES: Readonly<Record<string, RegistryCode>> = {
  invalid_type: 'WRONG_TYPE',
  invalid_value: 'NOT_ALLOWED',
};

/** The value of a key of the object's own. */
export function own(raw: Raw, key: string): unknown {
  return Object.hasOwn(raw, key) ? raw[key] : undefined;
}

/** How fields are written that are often written otherwise. */
const FORMS: Readonly<Record<string, string>> = {
  command: '[echo, hi]',
  exit_codes: '{"2": fail}',
  env: '{CI: "1"}',
  paths: '[/opt/tools]',
  files: '{check.sh: "the text"}',
  retry: '{limit: 3}',
  capability: '{read_only: true}',
  resource_slots: '[{name: repo, type: repo}]',
  lifecycle: '{activate: "() => 1"}',
  argument_mapping: '{path: {from: file}, limit: {value: 3}}',
  input_schema: '{type: object, properties: {limit: {type: integer}}}',
  output_schema: '{type: object}',
  annotations: '{readOnlyHint: true}',
  arguments: '{path: {from: /subject/path}, limit: {value: 3}}',
  tools: '[lint, builtin/task_count]',
};

/** A problem with the type of a field, with the form that it has. */
export function wrongType(path: string, message: string, found: string): CodedProblem {
  const code = 'WRONG_TYPE';
  if (path === 'timeout') return { code, path, message: 'must be a duration, such as "30s"', found };
  const form = Object.hasOwn(FORMS, path) ? `, such as ${FORMS[path]}` : '';
  return { code, path, message: message + form, found };
}

/** `nearest` as an optional property, for a name that is not among `allowed`. */
export function nearestOf(found: unknown, allowed: readonly string[]): { nearest?: string } {
  const nearest = typeof found === 'string' ? nearestName(found, allowed) : undefined;
  return nearest === undefined ? {} : { nearest };
}

/** Reports every key that is neither allowed nor the author’s own (`x-…`). */
export function reportUnknownKeys(raw: Raw, allowed: readonly string[], path: string, report: Report): void {
  for (const key of Object.keys(raw)) {
    if (allowed.includes(key) || isExtension(key)) continue;
    report({
      code: 'UNKNOWN_KEY',
      path: childPath(path, key),
      message: 'unknown key',
      allowed: [...allowed],
      ...nearestOf(key, allowed),
    });
  }
}

/** Each field by its own schema, so that one bad field hides none of the others. */
export function readFields(shape: Shape, raw: Raw, path: string, report: Report): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(shape)) {
    const value = own(raw, key);
    const parsed = schema.safeParse(value);
    if (parsed.success) {
      if (parsed.data !== undefined) fields[key] = parsed.data;
    } else reportIssues(parsed.error, value, childPath(path, key), report);
  }
  return fields;
}

function reportIssues(error: z.ZodError, value: unknown, path: string, report: Report): void {
  for (const issue of error.issues) {
    const problem = { ...issueProblem(issue, value, path), ...lengthOf(issue) };
    const code = problem.found === undefined ? 'MISSING_FIELD' : (CODES[issue.code] ?? 'BAD_VALUE');
    if (code === 'WRONG_TYPE') report(wrongType(problem.path, problem.message, problem.found ?? ''));
    else report({ ...problem, code });
  }
}

/** Lists are counted, not compared. */
function lengthOf(issue: z.core.$ZodIssue): { message?: string } {
  if ((issue.code !== 'too_small' && issue.code !== 'too_big') || issue.origin !== 'array') return {};
  if (issue.code === 'too_big') return { message: `must have at most ${issue.maximum} items` };
  return {
    message: Number(issue.minimum) === 1 ? 'must not be empty' : `must have at least ${issue.minimum} items`,
  };
}

/** An object inside a document that has these fields and no others; undefined where it is not given. */
export function readObject(
  shape: Shape,
  value: unknown,
  path: string,
  report: Report,
): Record<string, unknown> | undefined {
  if (value === undefined) return undefined;
  if (!isPlainObject(value)) {
    report(wrongType(path, 'must be an object', show(value)));
    return undefined;
  }
  reportUnknownKeys(value, Object.keys(shape), path, report);
  return readFields(shape, value, path, report);
}
