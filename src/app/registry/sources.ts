import { isPlainObject } from '../../core/json.js';
import { show } from '../../core/problem.js';
import type { CodedProblem } from '../../core/registry/codes.js';
import type { GivenDocument } from '../../core/registry/register.js';
import type { Interpreter } from '../../ports/interpreter.js';

function sourcesOf(value: unknown): [path: string, source: string][] {
  if (!isPlainObject(value)) return [];
  const hooks = isPlainObject(value.lifecycle) ? value.lifecycle : {};
  const all: [string, unknown][] = [
    ['code', value.code],
    ['transform', value.transform],
    ...Object.entries(hooks).map(([name, source]): [string, unknown] => [`lifecycle.${name}`, source]),
  ];
  return all.filter((each): each is [string, string] => typeof each[1] === 'string');
}

/** Sources that are no function expression, by document; the interpreter that would run them knows. */
export async function sourceFlaws(
  interpreter: Interpreter,
  given: readonly GivenDocument[],
): Promise<CodedProblem[][]> {
  const flaws: CodedProblem[][] = [];
  for (const { value } of given) {
    const own: CodedProblem[] = [];
    for (const [path, source] of sourcesOf(value)) {
      const reason = await interpreter.check(source);
      const message = `is not a JavaScript function expression: ${reason}`;
      if (reason !== undefined) own.push({ code: 'NO_FUNCTION', path, message, found: show(source) });
    }
    flaws.push(own);
  }
  return flaws;
}
