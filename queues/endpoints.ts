import type { z } from 'zod';
import { sha256 } from '../src/core/digest.js';
import { nearestName, type Problem, show } from '../src/core/problem.js';
import { withoutPassword } from '../src/core/redis-url.js';
import { issueProblem } from '../src/core/scenario/issues.js';

/** What sinks and sources have in common. */
interface Kind {
  kind: string;
  target: string;
  options: z.ZodType;
  problem(target: string, options: never): Omit<Problem, 'path'> | undefined;
}

interface Setting {
  name?: string | undefined;
  kind: string;
  target: string;
  options: Record<string, unknown>;
}

/** A setting whose kind is known and whose options are what that kind takes. */
export interface Endpoint<K extends Kind> {
  name: string;
  kind: K;
  target: string;
  options: z.output<K['options']>;
}

/** Default name: the same target is the same sink or source, over restarts. `salt` tells apart readers of one sink. */
export function endpointName({ name, kind, target }: Setting, salt = ''): string {
  if (name !== undefined) return salt === '' ? name : `${name}-${sha256(salt).slice(0, 12)}`;
  return `${kind}-${sha256(`${target}\u0000${salt}`).slice(0, 12)}`;
}

/** A value of the options as it may be shown; what could hold a secret is not. */
function shownOption(value: unknown, message: string): { found?: string } {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  // Who writes a secret where its place belongs must not find it in a log.
  return isPlain && !message.includes('{env: NAME}') ? { found: show(value) } : {};
}

const at = (path: string, keys: readonly PropertyKey[]): string =>
  keys.reduce<string>(
    (place, key) => (typeof key === 'number' ? `${place}[${key}]` : `${place}.${String(key)}`),
    path,
  );

/** Keys that are allowed in the object that stands at a path of the options. */
function keysOf(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  interface Node {
    shape?: Record<string, Node>;
    def?: { innerType?: Node; in?: Node; valueType?: Node; element?: Node };
  }
  const bare = (node: Node | undefined): Node | undefined => {
    const inner = node?.def?.innerType ?? node?.def?.in;
    return inner === undefined ? node : bare(inner);
  };
  const below = (node: Node | undefined, key: PropertyKey): Node | undefined =>
    bare(node?.shape?.[String(key)] ?? node?.def?.valueType ?? node?.def?.element);
  const node = path.reduce<Node | undefined>(below, bare(schema as unknown as Node));
  return Object.keys(node?.shape ?? {});
}

/** zod's own words are for programmers; those of a schema stand as they are. */
function plainWords(
  issue: z.core.$ZodIssue,
  options: unknown,
): Pick<Problem, 'message' | 'allowed' | 'nearest'> {
  if (!/^(?:Invalid (?:input|option)|Too (?:big|small))/.test(issue.message))
    return { message: issue.message };
  const { message, allowed, nearest } = issueProblem(issue, options, '');
  return {
    message,
    ...(allowed === undefined ? {} : { allowed }),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

function optionProblems(schema: z.ZodType, options: Record<string, unknown>, path: string): Problem[] {
  const parsed = schema.safeParse(options);
  return (parsed.error?.issues ?? []).flatMap((issue): Problem[] => {
    const place = at(path, ['options', ...issue.path]);
    if (issue.code !== 'unrecognized_keys') {
      const found = issue.path.reduce<unknown>((v, k) => (v as Record<PropertyKey, unknown>)?.[k], options);
      const words = plainWords(issue, options);
      return [{ path: place, ...words, ...shownOption(found, words.message) }];
    }
    const allowed = keysOf(schema, issue.path);
    return issue.keys.map((key) => {
      const nearest = nearestName(key, allowed);
      const near = nearest === undefined ? {} : { nearest };
      return { path: `${place}.${key}`, message: 'unknown key', allowed, ...near };
    });
  });
}

/** A setting as `KIND=TARGET`, without credentials. */
export const shownEndpoint = ({ kind, target }: Pick<Setting, 'kind' | 'target'>): string =>
  target === '' ? kind : `${kind}=${withoutPassword(target)}`;

/**
 * Finds the kind of a setting and checks target and options, every problem at once, without opening
 * anything. `path` is where it was given: `--sink`, or `sinks[n]` of the settings.
 */
export function readEndpoint<K extends Kind>(
  kinds: readonly K[],
  setting: Setting,
  path: string,
): { endpoint: Endpoint<K>; problems: [] } | { problems: Problem[] } {
  const names = kinds.map(({ kind }) => kind);
  const kind = kinds.find((candidate) => candidate.kind === setting.kind);
  const found = shownEndpoint(setting);
  if (kind === undefined) {
    const nearest = nearestName(setting.kind, names);
    const near = nearest === undefined ? {} : { nearest };
    return {
      problems: [{ path, message: `unknown kind "${setting.kind}"`, found, allowed: names, ...near }],
    };
  }
  const problems = optionProblems(kind.options, setting.options, path);
  if (setting.target === '') {
    const message = `lacks its target; write ${kind.kind}=TARGET, where TARGET is ${kind.target}`;
    problems.unshift({ path, message, found });
  }
  if (problems.length > 0) return { problems };
  const options = kind.options.parse(setting.options) as z.output<K['options']>;
  const wrong = kind.problem(setting.target, options as never);
  if (wrong !== undefined) return { problems: [{ path, found, ...wrong }] };
  return { endpoint: { name: endpointName(setting), kind, target: setting.target, options }, problems: [] };
}
