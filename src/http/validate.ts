import type { z } from 'zod';
import { nearestName, type Problem } from '../core/problem.js';
import { issueProblem } from '../core/scenario/issues.js';
import { childPath } from '../core/scenario/json-scan.js';

type Issue = z.core.$ZodIssue;

interface Node {
  shape?: Record<string, Node>;
  def?: { innerType?: Node; in?: Node; element?: Node; valueType?: Node; options?: Node[] };
}

const bare = (node: Node | undefined): Node | undefined => {
  const inner = node?.def?.innerType ?? node?.def?.in;
  return inner === undefined ? node : bare(inner);
};

/** Keys that the schema allows where `path` leads. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let nodes: (Node | undefined)[] = [schema as unknown as Node];
  const spread = () =>
    nodes.flatMap((node) => {
      const own = bare(node);
      return own?.def?.options === undefined ? [own] : own.def.options.map(bare);
    });
  for (const key of path) {
    nodes = spread().map((node) => node?.shape?.[String(key)] ?? node?.def?.element ?? node?.def?.valueType);
  }
  return [...new Set(spread().flatMap((node) => Object.keys(node?.shape ?? {})))];
}

const depthOf = (issues: readonly Issue[]) => Math.max(0, ...issues.map(({ path }) => path.length));

/** A union complains once a branch: the branch that got furthest says what is wrong. */
function furthest(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue];
  const branches = issue.errors.map((branch) =>
    branch.flatMap((inner) => furthest({ ...inner, path: [...issue.path, ...inner.path] } as Issue)),
  );
  const deepest = Math.max(...branches.map(depthOf));
  const [first = []] = branches.filter((branch) => depthOf(branch) === deepest);
  return first.length === 0 ? [issue] : first;
}

const pathOf = (path: readonly PropertyKey[]) =>
  path.reduce<string>((parent, key) => childPath(parent, typeof key === 'number' ? key : String(key)), '');

/** Every problem of a value with its schema; paths are inside the value. */
export function schemaProblems(schema: z.ZodType, error: z.ZodError, value: unknown): Problem[] {
  return error.issues.flatMap(furthest).flatMap((issue): Problem[] => {
    if (issue.code !== 'unrecognized_keys') return [issueProblem(issue, value, '')];
    const allowed = keysAt(schema, issue.path);
    return issue.keys.map((key) => {
      const nearest = nearestName(key, allowed);
      const near = nearest === undefined ? {} : { nearest };
      return { path: pathOf([...issue.path, key]), message: 'unknown key', allowed, ...near };
    });
  });
}
