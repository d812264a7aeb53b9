import { builtInSinks } from '../../queues/sinks/built-in.js';
import { nearestName, type Problem } from '../core/problem.js';
import { redisUrlProblem, withoutPassword } from './redis.js';
import { unwritable } from './writable.js';

/** A key may hold anything, but what looks like an address is one. */
function streamProblem(path: string, target: string): Problem | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) return undefined;
  const at = target.indexOf('#');
  const found = `redis-stream=${withoutPassword(target)}`;
  if (/^rediss?:/.test(target) && (at < 0 || at === target.length - 1))
    return { path, message: 'lacks the key of the stream; write redis://HOST:PORT#KEY', found };
  const problem = redisUrlProblem({ path }, at < 0 ? target : target.slice(0, at));
  return problem === undefined ? undefined : { ...problem, found };
}

/**
 * What is wrong with `KIND=TARGET`, found without opening it; undefined when nothing speaks against
 * it. `path` is where it was given: `--sink`, or `sinks[n]` of the settings.
 */
export async function sinkProblem(path: string, option: string): Promise<Problem | undefined> {
  const at = option.indexOf('=');
  const name = at < 0 ? option : option.slice(0, at);
  const kind = builtInSinks.find((candidate) => candidate.kind === name);
  if (kind === undefined) {
    const kinds = builtInSinks.map((candidate) => candidate.kind);
    const nearest = nearestName(name, kinds);
    const unknown = { path, message: `unknown kind of sink "${name}"`, found: option, allowed: kinds };
    return nearest === undefined ? unknown : { ...unknown, nearest };
  }
  const target = at < 0 ? '' : option.slice(at + 1);
  if (target === '')
    return {
      path,
      message: `lacks its target; write ${kind.kind}=TARGET, where TARGET is ${kind.target}`,
      found: option,
    };
  if (kind.kind === 'ndjson') return unwritable(path, 'ndjson', target);
  return kind.kind === 'redis-stream' ? streamProblem(path, target) : undefined;
}

/** The problems of the sinks of a command line and of its settings, each where it was given. */
export async function sinkProblems(
  given: readonly string[],
  configured: readonly string[],
): Promise<Problem[]> {
  const all = [
    ...[...new Set(given)].map((option) => sinkProblem('--sink', option)),
    ...configured.map((option, n) => sinkProblem(`sinks[${n}]`, option)),
  ];
  return (await Promise.all(all)).filter((problem) => problem !== undefined);
}
