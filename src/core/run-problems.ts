import type { z } from 'zod';
import { isPlainObject } from './json.js';
import { jsonPath } from './json-path.js';
import { type Problem, show } from './problem.js';

type Issue = z.core.$ZodIssue;

/** Problems that one record may add to a report; the rest are only counted. */
const MAX_PROBLEMS = 20;

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

/** A union complains once a branch: the branch that got furthest says what is wrong. */
function deepest(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const branches = issue.errors.map((branch) =>
    branch.flatMap((inner) => deepest({ ...inner, path: [...issue.path, ...inner.path] } as Issue)),
  );
  const depth = (branch: Issue[]) => Math.max(0, ...branch.map((inner) => inner.path.length));
  const furthest = Math.max(0, ...branches.map(depth));
  return branches.filter((branch) => depth(branch) === furthest).flat();
}

const TOO_LARGE = 'is a number too large to be exact';

/** JSON.parse makes infinity of 1e400. */
const isNumberBeyond = (value: unknown) => typeof value === 'number' && !Number.isFinite(value);

function problemAt(path: readonly PropertyKey[], issues: Issue[], record: unknown): Problem {
  const found = valueAt(record, path);
  const allowed = [
    ...new Set(
      issues.flatMap((i) => (i.code === 'invalid_type' ? [KINDS[i.expected] ?? String(i.expected)] : [])),
    ),
  ];
  const place = { path: jsonPath(path) };
  const first = issues[0];
  if (allowed.length > 0) {
    if (found === undefined) return { ...place, message: 'is missing', allowed };
    const message = isNumberBeyond(found) ? TOO_LARGE : 'has the wrong type';
    return { ...place, message, found: show(found), allowed };
  }
  if (typeof found === 'number' && (first?.code === 'too_small' || first?.code === 'too_big'))
    return { ...place, message: TOO_LARGE, found: show(found) };
  if (first?.code === 'too_small') return { ...place, message: 'is empty', found: show(found) };
  if (first?.code === 'too_big') {
    return { ...place, message: `is longer than ${String(first.maximum)} characters`, found: show(found) };
  }
  return { ...place, message: first?.message ?? 'is invalid', found: show(found) };
}

/** The schema's complaints about one run record, one for each place; paths are inside the record. */
export function recordProblems(error: z.ZodError, record: unknown): Problem[] {
  if (!isPlainObject(record)) {
    return [
      { path: '', message: 'is not a run record', found: show(record), allowed: ['an object with an id'] },
    ];
  }
  const places = new Map<string, { path: readonly PropertyKey[]; issues: Issue[] }>();
  for (const issue of error.issues.flatMap(deepest)) {
    const key = jsonPath(issue.path);
    const place = places.get(key) ?? { path: issue.path, issues: [] };
    place.issues.push(issue);
    places.set(key, place);
  }
  const problems = [...places.values()].map(({ path, issues }) => problemAt(path, issues, record));
  if (problems.length <= MAX_PROBLEMS) return problems;
  const more = problems.length - MAX_PROBLEMS;
  return [...problems.slice(0, MAX_PROBLEMS), { path: '', message: `has ${more} more problems` }];
}
