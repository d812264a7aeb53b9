import type { z } from 'zod';
import { isPlainObject } from '../json.js';
import { nearestName, type Problem, show } from '../problem.js';
import { builtInValidators, findValidator } from '../validators/built-in.js';
import type { Validator } from '../validators/validator.js';
import { issueProblem } from './issues.js';
import { childPath } from './json-scan.js';
import type { Rule, Scope } from './model.js';
import { commonFields, isExtension } from './schema.js';

/** Takes a problem without its file. */
export type Report = (problem: Problem) => void;

const COMMON = ['label', 'validator', 'required', 'negate'];

/** `nearest` as an optional property, for a name that is not among `allowed`. */
export function nearestOf(found: unknown, allowed: readonly string[]): { nearest?: string } {
  const nearest = typeof found === 'string' ? nearestName(found, allowed) : undefined;
  return nearest === undefined ? {} : { nearest };
}

/** Reports every key of `object` that is neither allowed nor an extension. */
export function reportUnknownKeys(
  object: Record<string, unknown>,
  allowed: readonly string[],
  path: string,
  report: Report,
): void {
  for (const key of Object.keys(object)) {
    // "__proto__" is reported by the JSON scanner, with its line.
    if (allowed.includes(key) || isExtension(key) || key === '__proto__') continue;
    report({
      path: childPath(path, key),
      message: 'unknown key',
      found: show(key),
      allowed: [...allowed],
      ...nearestOf(key, allowed),
    });
  }
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

type Shape = Readonly<Record<string, z.ZodType>>;

/** Each field by its own schema, so that one bad field hides none of the others. */
function readFields(
  shape: Shape,
  raw: Record<string, unknown>,
  path: string,
  report: Report,
  narrower: Shape = {},
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(shape)) {
    const value = own(raw, key);
    const parsed = schema.safeParse(value);
    if (!parsed.success) {
      // What this scope allows is the better hint than what some scope allows.
      const { error } = narrower[key]?.safeParse(value) ?? parsed;
      for (const issue of (error ?? parsed.error).issues)
        report(issueProblem(issue, value, childPath(path, key)));
    } else if (parsed.data !== undefined) fields[key] = parsed.data;
  }
  return fields;
}

function knownValidator(name: unknown, scope: Scope, path: string, report: Report): Validator | undefined {
  const names = [...builtInValidators.keys()];
  const at = childPath(path, 'validator');
  if (name === undefined) {
    report({ path: at, message: 'is missing', allowed: names });
    return undefined;
  }
  if (typeof name !== 'string') {
    report({ path: at, message: 'must be a string', found: show(name), allowed: names });
    return undefined;
  }
  const validator = findValidator(name);
  if (validator === undefined) {
    report({
      path: at,
      message: 'unknown validator',
      found: show(name),
      allowed: names,
      ...nearestOf(name, names),
    });
  } else if (!validator.scopes.includes(scope)) {
    const fitting = names.filter((each) => builtInValidators.get(each)?.scopes.includes(scope));
    const message = `"${name}" cannot be used in scope ${scope}, only in ${validator.scopes.join(' and ')}`;
    report({ path: at, message, found: show(name), allowed: fitting });
  }
  return validator;
}

function allFields(): string[] {
  const names = [...builtInValidators.values()].flatMap(({ params }) => Object.keys(params.shape));
  return [...new Set([...COMMON, ...names])];
}

/**
 * One entry of a scope as a rule, after reporting everything that is wrong with it. What comes
 * back is only to be used when nothing was reported.
 */
export function readRule(
  raw: unknown,
  scope: Scope,
  index: number,
  path: string,
  report: Report,
): Rule | undefined {
  if (!isPlainObject(raw)) {
    report({ path, message: 'must be an object', found: show(raw) });
    return undefined;
  }
  const common = readFields(commonFields, raw, path, report);
  const validator = knownValidator(own(raw, 'validator'), scope, path, report);
  if (validator === undefined) {
    reportUnknownKeys(raw, allFields(), path, report);
    return undefined;
  }
  reportUnknownKeys(raw, [...COMMON, ...Object.keys(validator.params.shape)], path, report);
  const narrower = validator.paramsIn?.(scope) as Shape | undefined;
  const params = readFields(validator.params.shape as Shape, raw, path, report, narrower);
  const fitting = validator.scopes.includes(scope);
  for (const problem of validator.problems?.(params, scope, new Set(Object.keys(raw))) ?? []) {
    // In a scope that the validator does not belong to, no `where` would fit either.
    if (!fitting && problem.path === 'where') continue;
    report({ ...problem, path: problem.path === '' ? path : childPath(path, problem.path) });
  }
  return {
    scope,
    index,
    label: String(common.label),
    validator: validator.name,
    required: common.required === true,
    negate: common.negate === true,
    params,
  };
}
