import { distance } from 'fastest-levenshtein';
import { propertySchemas } from '../core/attachments/argument-shape.js';
import { coerceArguments } from '../core/attachments/arguments.js';
import { isPlainObject } from '../core/json.js';
import { type Problem, show } from '../core/problem.js';
import type { JsonObject } from '../core/registry/model.js';
import { readEvidence } from '../inputs/snapshots.js';
import type { ProblemList } from './options.js';

/** What follows the names on a command line that takes a tool's own arguments. */
export interface GivenWords {
  words: readonly string[];
  /** Long names of the command's own options, with their dashes. */
  known: readonly string[];
}

/** Words after each option, by its name without dashes; `true` where none follows. */
type ByOption = Record<string, (string | true)[]>;

const usage = (path: string, message: string, more: Partial<Problem> = {}): Problem => ({
  code: 'USAGE',
  path,
  message,
  ...more,
});

/** Whether a word is what the option before it is given: another option is not, a negative number is. */
const isValue = (word: string | undefined): word is string =>
  word !== undefined && (!word.startsWith('-') || word === '-' || /^-\.?\d/.test(word));

/** `--key value`, `--key=value` and `--key` as lists by key; anything else is a problem. */
export function splitWords(words: readonly string[], problems: Pick<ProblemList, 'add'>): ByOption {
  const found = new Map<string, (string | true)[]>();
  for (let n = 0; n < words.length; n++) {
    const word = words[n] as string;
    if (word === '--') continue;
    const [, key, inline] = /^--([^=\s]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (key === undefined) {
      const message = word.startsWith('-')
        ? 'is no argument; write --key value'
        : 'belongs to no option; write --key value';
      problems.add(usage('arguments', message, { found: show(word) }));
      continue;
    }
    const next = words[n + 1];
    const value = inline ?? (isValue(next) ? next : true);
    if (inline === undefined && value !== true) n += 1;
    found.set(key, [...(found.get(key) ?? []), value]);
  }
  return Object.fromEntries(found);
}

/** Names that came in the place of a name and are none: the tool's arguments stand behind the names. */
export function misplacedNames(names: Readonly<Record<string, string>>, problems: ProblemList): void {
  for (const [path, name] of Object.entries(names)) {
    if (!name.startsWith('-')) continue;
    problems.add(
      usage(path, 'is missing; names come first, then what is given as --key value', { found: name }),
    );
    return;
  }
}

const isNear = (key: string, name: string): boolean =>
  (key.length >= 3 && name.startsWith(key)) || distance(key, name) <= (name.length > 5 ? 2 : 1);

/** Options of sluice that were mistyped would else become arguments of a tool that takes any. */
function slips(given: ByOption, declares: (key: string) => boolean, known: readonly string[]): Problem[] {
  return Object.keys(given).flatMap((key) => {
    if (declares(key)) return [];
    const near = known.find((option) => isNear(key, option.replace(/^--/, '')));
    if (near === undefined) return [];
    const message = `is no option; an argument of that name that is not in the schema goes into --args`;
    return [usage(`--${key}`, message, { nearest: near })];
  });
}

async function readArgs(text: string, problems: ProblemList): Promise<JsonObject> {
  const path = '--args';
  const message = 'expected a JSON object, or @FILE with one';
  if (!/^(?:@|\s*\{)/.test(text)) {
    problems.add({ code: 'BAD_ARGUMENTS', path, message, found: show(text) });
    return {};
  }
  const read = await readEvidence(text.replace(/^@/, ''));
  if ('problems' in read) {
    problems.add(...read.problems.map((problem) => ({ ...problem, code: 'BAD_ARGUMENTS', path })));
    return {};
  }
  if (isPlainObject(read.value)) return read.value as JsonObject;
  problems.add({ code: 'BAD_ARGUMENTS', path, message, found: show(read.value) });
  return {};
}

/**
 * The arguments of a call or an attachment: those of `--args`, and those of `--key value` by the schema
 * that they will be checked against. What cannot be read goes to `problems`.
 */
export async function readArguments(
  schema: JsonObject,
  args: string | undefined,
  { words, known }: GivenWords,
  problems: ProblemList,
): Promise<JsonObject> {
  const given = splitWords(words, problems);
  const whole = args === undefined ? {} : await readArgs(args, problems);
  const single = coerceArguments(schema, given);
  const declares = (key: string) =>
    [key, key.replaceAll('-', '_')].some((name) => propertySchemas(schema, name).length > 0);
  problems.add(...single.problems, ...slips(given, declares, known));
  for (const key of Object.keys(single.arguments))
    if (Object.hasOwn(whole, key)) problems.add(usage(`--${key}`, 'is given in --args as well'));
  return Object.fromEntries([...Object.entries(whole), ...Object.entries(single.arguments)]);
}
