import type { z } from 'zod';
import { nearestName, type Problem, show } from '../problem.js';
import { childPath } from './json-scan.js';

type Issue = z.core.$ZodIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

function bound(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const small = issue.code === 'too_small';
  const limit = String(small ? issue.minimum : issue.maximum);
  if (issue.origin !== 'string') return `must be ${small ? 'at least' : 'at most'} ${limit}`;
  if (small && limit === '1') return 'must not be empty';
  return `must have ${small ? 'at least' : 'at most'} ${limit} characters`;
}

function messageOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return 'is not one of the allowed values';
    case 'too_small':
    case 'too_big':
      return bound(issue);
    case 'invalid_union':
      return 'holds something that JSON cannot carry, such as a number out of range';
    default:
      return issue.message;
  }
}

/** A complaint of zod about `value`, which stands at `path` in its document, in the words of a problem. */
export function issueProblem(issue: Issue, value: unknown, path: string): Problem {
  const found = valueAt(value, issue.path);
  const place = issue.path.reduce<string>(
    (parent, key) => childPath(parent, typeof key === 'number' ? key : String(key)),
    path,
  );
  const allowed = issue.code === 'invalid_value' ? issue.values.map(String) : undefined;
  const near = allowed !== undefined && typeof found === 'string' ? nearestName(found, allowed) : undefined;
  return {
    path: place,
    message: found === undefined ? 'is missing' : messageOf(issue),
    ...(found === undefined ? {} : { found: typeof found === 'number' ? String(found) : show(found) }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(near === undefined ? {} : { nearest: near }),
  };
}
