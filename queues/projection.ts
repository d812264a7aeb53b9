import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type jsonata from 'jsonata';
import { RE2JS } from 're2js';
import type { OutboxEvent } from '../src/core/events.js';
import { type Problem, SluiceError } from '../src/core/problem.js';
import { redact } from '../src/core/redact.js';

/** Milliseconds, nested calls and members of a list that one projection of one event may take. */
const GUARD = { timeout: 500, stack: 500, sequence: 100_000 };
/** Milliseconds of one projection above which others get as much time before the next. */
const SLOW_MS = 20;
/** Characters of JSON that a projection may yield. */
const LONGEST = 4 * 2 ** 20;
/** Characters that `$pad` may fill up to: it fills in one go, which the guard cannot end. */
const WIDEST_PAD = 100_000;

/**
 * What JSONata asks of a regular expression, with RE2 behind it: no pattern hangs on any text, and
 * none of Node's can be stopped.
 */
class LinearRegex {
  lastIndex = 0;
  readonly #program: RE2JS;

  constructor({ source, flags }: RegExp) {
    const fold = flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0;
    const lines = flags.includes('m') ? RE2JS.MULTILINE : 0;
    this.#program = RE2JS.compile(source, fold | lines);
  }

  exec(text: string): RegExpExecArray | null {
    const matcher = this.#program.matcher(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) return null;
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, n) => matcher.group(n) ?? undefined);
    this.lastIndex = matcher.end();
    return Object.assign(groups, { index: matcher.start(), input: text }) as unknown as RegExpExecArray;
  }
}

/** What JSONata throws: not an Error. */
const said = (error: unknown): { message: string; position?: number } =>
  typeof error === 'object' && error !== null && typeof (error as Error).message === 'string'
    ? (error as { message: string; position?: number })
    : { message: String(error) };

/** Regular expressions of a program that RE2 does not take, each with what it says. */
function regexProblems(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, value } = node as { type?: unknown; value?: unknown };
  if (type === 'regex' && value instanceof RegExp) {
    try {
      new LinearRegex(value);
      return [];
    } catch (error) {
      return [`/${value.source}/ is no RE2 pattern: ${(error as Error).message}`];
    }
  }
  return Object.values(node).flatMap(regexProblems);
}

function refuse(text: string, message: string): never {
  const problem: Problem = { path: 'projection', message, found: text.slice(0, 200) };
  throw new SluiceError('USAGE', `The projection cannot be used: ${message}.`, [problem]);
}

async function compile(text: string): Promise<jsonata.Expression> {
  const { default: read } = await import('jsonata');
  try {
    const options = { ...GUARD, RegexEngine: LinearRegex as unknown as RegExpConstructor };
    const expression = read(text, options);
    const wrong = regexProblems(expression.ast());
    if (wrong.length > 0) refuse(text, wrong.join('; '));
    return expression;
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const { message, position } = said(error);
    return refuse(text, position === undefined ? message : `${message} (at character ${position})`);
  }
}

/** `$pad` as JSONata has it, up to a width. */
function pad(text: string | undefined, width: number, fill = ' '): string | undefined {
  if (text === undefined) return undefined;
  const size = Math.abs(Math.trunc(width));
  if (size > WIDEST_PAD) throw new Error(`$pad fills up to ${WIDEST_PAD} characters at most`);
  const missing = size - [...text].length;
  if (missing <= 0) return text;
  const filling = [...(fill === '' ? ' ' : fill)];
  const padding = Array.from({ length: missing }, (_, n) => filling[n % filling.length]).join('');
  return width < 0 ? padding + text : text + padding;
}

/** JSON of what came out; a function is no value. */
function textOf(result: unknown): string {
  const isFunction = (value: unknown) =>
    typeof value === 'function' ||
    (typeof value === 'object' &&
      value !== null &&
      (Object.hasOwn(value, '_jsonata_function') || Object.hasOwn(value, '_jsonata_lambda')));
  if (isFunction(result)) throw new Error('it yields a function');
  const json = JSON.stringify(result, (_, value) => (isFunction(value) ? undefined : value));
  if (json.length > LONGEST) throw new Error(`it yields more than ${LONGEST} characters`);
  return json;
}

/**
 * Waits for as long as a slow projection took: JSONata never lets others go on meanwhile, and the locks
 * and sinks of this process need their time too.
 */
async function makeUpFor(began: number): Promise<void> {
  const took = performance.now() - began;
  if (took > SLOW_MS) await delay(took);
}

/**
 * Reads a projection: JSONata over the CloudEvent. It gives the JSON to send in place of the event, or
 * undefined where it yields nothing. Throws USAGE with the position when it cannot be read; what it
 * makes throws when an event cannot be projected, also when that takes too long.
 */
export async function openProjection(
  text: string,
): Promise<(event: OutboxEvent) => Promise<string | undefined>> {
  const expression = await compile(text);
  expression.registerFunction('pad', pad, '<s-ns?:s>');
  return async (event) => {
    const began = performance.now();
    try {
      const result: unknown = await expression.evaluate(JSON.parse(event.json));
      return result === undefined ? undefined : textOf(result);
    } catch (error) {
      throw new Error(`The projection failed: ${redact(said(error).message).slice(0, 500)}`);
    } finally {
      await makeUpFor(began);
    }
  };
}
