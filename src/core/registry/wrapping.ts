import { show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import { argumentNames } from './argument-names.js';
import { chainOf, inputSchemaIfAny, MOST_WRAPPINGS, slotsOf, timeoutOf } from './closure.js';
import type { CodedProblem } from './codes.js';
import { nearestOf } from './fields.js';
import { schemaProblems } from './json-schema.js';
import { callableNames, type Entries } from './lookup.js';
import { isImpossible, type Mapping, UnfollowedSchema } from './mapping.js';
import { type CallableDocument, isSkill, type JsonObject, type ValidationDocument } from './model.js';
import { tooManyRequired } from './slots.js';
import { formatTimeout } from './timeout.js';

type Wrapping = ValidationDocument & { wraps: string };

/**
 * Everything that keeps a validation from wrapping what it names (DESIGN 4.2, 4.3), with the registry as
 * it would be. `broken` are names of documents that were refused for themselves: what follows from them
 * is not told once more.
 */
export function wrappingProblems(
  entries: Entries,
  document: Wrapping,
  broken: ReadonlySet<string>,
): CodedProblem[] {
  const { name, wraps } = document;
  const followed = chainOf(entries, name);
  const names = followed.ok ? followed.chain.map((each) => each.name) : followed.names;
  if (names.some((each) => broken.has(each))) return [];
  if (followed.ok) return innerProblems(document, followed.chain.slice(1));
  const path = 'wraps';
  const found = names.join(' > ');
  switch (followed.trouble) {
    case 'unknown':
      // Further in, it is the problem of the one that names it.
      return names.at(-1) === wraps ? [unknown(entries, document)] : [];
    case 'cycle':
      return names.at(-1) === name
        ? [{ code: 'WRAPS_CYCLE', path, message: 'would wrap itself', found }]
        : [];
    case 'depth': {
      const message = `wraps more than ${MOST_WRAPPINGS} deep`;
      return [{ code: 'WRAPS_TOO_DEEP', path, message, found }];
    }
  }
}

function unknown(entries: Entries, { name, wraps }: Wrapping): CodedProblem {
  const named = entries.get(wraps)?.document;
  const message =
    named !== undefined && isSkill(named)
      ? 'is a skill; only tools and validations can be wrapped'
      : 'is no registered tool or validation';
  const others = callableNames({ entries }).filter((each) => each !== name);
  const nearest = nearestOf(wraps, others);
  return { code: 'WRAPS_UNKNOWN', path: 'wraps', message, found: wraps, ...nearest };
}

function innerProblems(document: Wrapping, inner: CallableDocument[]): CodedProblem[] {
  const [wrapped] = inner;
  if (wrapped === undefined) return [];
  const resolved = { chain: inner };
  const problems: CodedProblem[] = [];
  if (!wrapped.capability.read_only || wrapped.capability.writes) problems.push(writing(wrapped));
  const tooMany = tooManyRequired(slotsOf(resolved));
  if (tooMany !== undefined) problems.push({ ...tooMany, path: 'wraps' });
  const longest = timeoutOf(resolved);
  if (document.timeout_ms !== undefined && document.timeout_ms > longest) {
    const message = `is longer than that of ${wrapped.name}, ${formatTimeout(longest)}; wrapping can only shorten it`;
    const found = formatTimeout(document.timeout_ms);
    problems.push({ code: 'TIMEOUT_TOO_LONG', path: 'timeout', message, found });
  }
  const schema = inputSchemaIfAny(resolved);
  if (schema === undefined) return problems;
  return [...problems, ...mappingProblems(document.argument_mapping ?? {}, schema)];
}

/** ADR, Constraints: what a validation runs must be known not to write. */
function writing({ name, source, capability }: CallableDocument): CodedProblem {
  const message = capability.writes
    ? `wraps ${name}, which writes or does not say that it does not; if it does not, register it with read_only: true`
    : `wraps ${name}, which is not read-only; if it is, register it with read_only: true`;
  const hint = source === 'mcp' ? `${message}, or with annotations that say so` : message;
  return { code: 'WRAPS_WRITING', path: 'wraps', message: hint, found: name };
}

/** Names of arguments that what is wrapped does not have; none, where what is wrapped cannot be followed. */
export function unknownMapped(entries: Entries, wraps: string, names: readonly string[]): CodedProblem[] {
  const followed = chainOf(entries, wraps);
  const schema = followed.ok ? inputSchemaIfAny(followed) : undefined;
  const known = schema === undefined ? undefined : argumentNames(schema);
  return known === undefined ? [] : names.flatMap((name) => unknownArgument(name, known));
}

function unknownArgument(name: string, known: string[]): CodedProblem[] {
  if (known.includes(name)) return [];
  const code = 'MAPPING_UNKNOWN';
  const path = childPath('argument_mapping', name);
  if (known.length === 0) return [{ code, path, message: 'the wrapped tool takes no arguments' }];
  const message = 'is no argument of the wrapped tool';
  return [{ code, path, message, allowed: known, ...nearestOf(name, known) }];
}

function mappingProblems(mapping: Mapping, schema: JsonObject): CodedProblem[] {
  const known = argumentNames(schema);
  const path = 'argument_mapping';
  const problems = Object.entries(mapping).flatMap(([name, each]): CodedProblem[] => {
    const at = childPath(path, name);
    if (known !== undefined && !known.includes(name)) return unknownArgument(name, known);
    if ('from' in each) return [];
    const misfits = valueProblems(schema, name, each.value, `${at}.value`);
    return misfits.map((problem) => ({ ...problem, code: 'MAPPING_VALUE' }));
  });
  return problems.length > 0 ? problems : followed(mapping, schema);
}

/** What a schema of arguments says against the value of one of them. */
export function valueProblems(
  schema: JsonObject,
  name: string,
  value: unknown,
  path: string,
): CodedProblem[] {
  const properties = (schema.properties ?? {}) as JsonObject;
  if (!Object.hasOwn(properties, name)) return [];
  const { $defs = {}, definitions = {} } = schema;
  const own = { allOf: [properties[name] ?? true], $defs, definitions };
  return schemaProblems(own, value, path);
}

/** A name that `from` uses no longer reaches the argument that has it. */
function incomplete(mapping: Mapping, schema: JsonObject): CodedProblem[] {
  const used = Object.values(mapping).flatMap((each) => ('from' in each ? [each.from] : []));
  const required = (schema.required ?? []) as string[];
  return required
    .filter((name) => used.includes(name) && !Object.hasOwn(mapping, name))
    .map((name) => {
      const message = `the required argument ${name} could not be given: its name stands for another; map it as well`;
      return { code: 'MAPPING_INCOMPLETE', path: 'argument_mapping', message };
    });
}

function followed(mapping: Mapping, schema: JsonObject): CodedProblem[] {
  const unreached = incomplete(mapping, schema);
  if (unreached.length > 0) return unreached;
  const path = 'argument_mapping';
  try {
    const message = 'fixes values that, together, never fit the wrapped tool';
    return isImpossible(schema, mapping) ? [{ code: 'MAPPING_VALUE', path, message }] : [];
  } catch (error) {
    if (!(error instanceof UnfollowedSchema)) throw error;
    const message = `cannot be followed through the input_schema of the wrapped tool, because of ${error.message}`;
    return [
      { code: 'MAPPING_UNSUPPORTED', path: 'argument_mapping', message, found: show(Object.keys(mapping)) },
    ];
  }
}
