import type { z } from 'zod';
import { sha256 } from '../src/core/digest.js';
import { nearestName, type Problem, show } from '../src/core/problem.js';

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

function optionProblems(schema: z.ZodType, options: Record<string, unknown>, path: string): Problem[] {
  const parsed = schema.safeParse(options);
  return (parsed.error?.issues ?? []).flatMap((issue): Problem[] => {
    const at = [path, 'options', ...issue.path.map(String)].join('.');
    if (issue.code !== 'unrecognized_keys') {
      const found = issue.path.reduce<unknown>((v, k) => (v as Record<PropertyKey, unknown>)?.[k], options);
      return [{ path: at, message: issue.message, ...(found === undefined ? {} : { found: show(found) }) }];
    }
    const allowed = Object.keys((schema as z.ZodObject).shape ?? {});
    return issue.keys.map((key) => {
      const nearest = nearestName(key, allowed);
      const near = nearest === undefined ? {} : { nearest };
      return { path: `${at}.${key}`, message: 'unknown key', allowed, ...near };
    });
  });
}

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
  if (kind === undefined) {
    const nearest = nearestName(setting.kind, names);
    const near = nearest === undefined ? {} : { nearest };
    return {
      problems: [{ path, message: 'unknown kind', found: show(setting.kind), allowed: names, ...near }],
    };
  }
  if (setting.target === '')
    return {
      problems: [
        { path, message: `lacks its target; write ${kind.kind}=TARGET, where TARGET is ${kind.target}` },
      ],
    };
  const problems = optionProblems(kind.options, setting.options, path);
  if (problems.length > 0) return { problems };
  const options = kind.options.parse(setting.options) as z.output<K['options']>;
  const wrong = kind.problem(setting.target, options as never);
  if (wrong !== undefined) return { problems: [{ path, ...wrong }] };
  return { endpoint: { name: endpointName(setting), kind, target: setting.target, options }, problems: [] };
}
