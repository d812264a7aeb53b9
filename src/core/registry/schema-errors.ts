import type { ErrorObject } from 'ajv/dist/2020.js';
import { isPlainObject } from '../json.js';
import { checkPattern } from '../patterns/dialect.js';
import { nearestName, show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import type { CodedProblem } from './codes.js';
import { besides, unknownName } from './schema-names.js';
import { partsOf, referenced } from './schema-walk.js';

/** Most problems of one value; what is wrong a thousand times is told a hundred times. */
const MOST_PROBLEMS = 100;

/** A complaint of ajv, with those of the alternatives that it sums up. */
interface Complaint {
  error: ErrorObject;
  inner: ErrorObject[];
}

/** Keywords that complain once more about what the schemas in them complained about. */
const SUMMING: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames']);

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** Everything that the schema held against a value, in words; `path` is where the value stands. */
export function problemsFrom(
  errors: readonly ErrorObject[],
  root: unknown,
  value: unknown,
  path: string,
): CodedProblem[] {
  const all = new Map<string, CodedProblem>();
  const { complaints, more } = summed(errors, root);
  for (const { error, inner } of complaints) {
    const problem = problemOf(error, inner, root, pathOf(error.instancePath, value, path));
    // One slip is often against several parts of a schema.
    const key = `${problem.path}\n${problem.message}`;
    if (!all.has(key)) all.set(key, problem);
  }
  if (more > 0) all.set('', { code: 'VALUE_INVALID', path, message: `has ${more} more problems` });
  return [...all.values()];
}

/** What the schemas in a keyword complained about comes right before what the keyword complains about. */
function summed(errors: readonly ErrorObject[], root: unknown): { complaints: Complaint[]; more: number } {
  const open: Complaint[] = [];
  const within = new Map<unknown, ReadonlySet<unknown>>();
  for (const error of errors) {
    // What `then` or `else` complained about is there already.
    if (error.keyword === 'if') continue;
    const inner: ErrorObject[] = [];
    if (SUMMING.has(error.keyword)) {
      const schemas = within.get(error.schema) ?? schemasWithin(error, root);
      within.set(error.schema, schemas);
      for (let last = open.at(-1)?.error; last !== undefined; last = open.at(-1)?.error) {
        if (!schemas.has(last.parentSchema) || !isBelow(last.instancePath, error.instancePath)) break;
        inner.push(last);
        open.pop();
      }
    }
    open.push({ error, inner: inner.reverse() });
  }
  return { complaints: open.slice(0, MOST_PROBLEMS), more: Math.max(0, open.length - MOST_PROBLEMS) };
}

/** Every schema that has a say in the keyword that complained, references followed. */
function schemasWithin(error: ErrorObject, root: unknown): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const waiting = partsOf({ [error.keyword]: error.schema }, '').map(({ schema }) => schema);
  for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
    if (!isPlainObject(schema) || found.has(schema)) continue;
    found.add(schema);
    waiting.push(...partsOf(schema, '').map((part) => part.schema));
    if (typeof schema.$ref === 'string') waiting.push(referenced(root, schema.$ref));
  }
  return found;
}

function isBelow(pointer: string, above: string): boolean {
  return pointer === above || pointer.startsWith(`${above}/`);
}

function pathOf(pointer: string, value: unknown, path: string): string {
  let at = value;
  let place = path;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    place = childPath(place, Array.isArray(at) ? Number(key) : key);
    at = (at as Record<string, unknown> | undefined)?.[key];
  }
  return place;
}

function problemOf(
  error: ErrorObject,
  inner: readonly ErrorObject[],
  root: unknown,
  path: string,
): CodedProblem {
  const { keyword, params, data } = error;
  switch (keyword) {
    case 'required':
      return {
        code: 'VALUE_MISSING',
        path: childPath(path, params.missingProperty),
        message: 'is missing',
      };
    case 'dependentRequired': {
      const message = `is missing; ${params.property} needs it`;
      return { code: 'VALUE_MISSING', path: childPath(path, params.missingProperty), message };
    }
    case 'additionalProperties':
      return unknownName(error, params.additionalProperty, path);
    case 'unevaluatedProperties':
      return unknownName(error, params.unevaluatedProperty, path);
    case 'false schema':
      return { code: 'VALUE_UNKNOWN', path, message: 'is unknown here', ...besides(error, root) };
    case 'propertyNames':
      return unknownName(error, params.propertyName, path);
    case 'type': {
      const types = [params.type].flat().map((type: string) => TYPES[type] ?? type);
      return { code: 'VALUE_TYPE', path, message: `must be ${types.join(' or ')}`, found: show(data) };
    }
    case 'enum':
      return notAmong(params.allowedValues, data, path);
    case 'anyOf':
    case 'oneOf':
      return fitsNone(error, inner, path);
    case 'format':
      if (params.format === 're2') return badPattern(data, path);
  }
  return { code: 'VALUE_INVALID', path, message: sentence(error), found: show(data) };
}

function notAmong(values: readonly unknown[], found: unknown, path: string): CodedProblem {
  const names = values.filter((value) => typeof value === 'string');
  const nearest = typeof found === 'string' ? nearestName(found, names) : undefined;
  return {
    code: 'VALUE_NOT_ALLOWED',
    path,
    message: 'is not one of the allowed values',
    found: show(found),
    allowed: values.map((value) => (typeof value === 'string' ? value : show(value))),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

/** What the alternatives have in common, where they have: a list of values, or types. */
function fitsNone(error: ErrorObject, inner: readonly ErrorObject[], path: string): CodedProblem {
  const here = inner.filter((each) => each.instancePath === error.instancePath);
  const listed = here.find((each) => each.keyword === 'enum');
  if (listed !== undefined) return notAmong(listed.params.allowedValues, error.data, path);
  const required = here.filter((each) => each.keyword === 'required');
  if (required.length > 0 && required.length === inner.length) {
    const names = [...new Set(required.map((each) => String(each.params.missingProperty)))];
    const message = `needs ${names.join(', or ')}`;
    return { code: 'VALUE_MISSING', path, message };
  }
  if (here.length > 0 && here.length === inner.length && here.every((each) => each.keyword === 'type')) {
    const types = [...new Set(here.flatMap((each) => [each.params.type].flat() as string[]))];
    const message = `must be ${types.map((type) => TYPES[type] ?? type).join(' or ')}`;
    return { code: 'VALUE_TYPE', path, message, found: show(error.data) };
  }
  const several = Array.isArray(error.params.passingSchemas);
  const message = several ? 'fits several alternatives, of which one alone may fit' : 'fits no alternative';
  return { code: 'VALUE_INVALID', path, message, found: show(error.data) };
}

function badPattern(found: unknown, path: string): CodedProblem {
  const checked = checkPattern(String(found));
  const proposal = checked.ok ? undefined : checked.proposal;
  return {
    code: 'VALUE_INVALID',
    path,
    message: `is not a valid pattern${checked.ok ? '' : `: ${checked.message}`}`,
    found: show(found),
    ...(proposal === undefined ? {} : { nearest: proposal }),
  };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const COMPARISONS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'more than',
  '<': 'less than',
};

/** What the value must be, for the keywords that take a number, a text or nothing. */
function sentence({ keyword, params, schema, message }: ErrorObject): string {
  switch (keyword) {
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `must be ${COMPARISONS[params.comparison] ?? params.comparison} ${params.limit}`;
    case 'multipleOf':
      return `must be a multiple of ${params.multipleOf}`;
    case 'minLength':
      return params.limit === 1
        ? 'must not be empty'
        : `must have at least ${counted(params.limit, 'character')}`;
    case 'maxLength':
      return `must have at most ${counted(params.limit, 'character')}`;
    case 'minItems':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${counted(params.limit, 'item')}`;
    case 'maxItems':
      return `must have at most ${counted(params.limit, 'item')}`;
    case 'minProperties':
      return `must have at least ${params.limit} keys`;
    case 'maxProperties':
      return `must have at most ${params.limit} keys`;
    case 'uniqueItems':
      return 'must not have the same item twice';
    case 'pattern':
      return `must match ${params.pattern}`;
    case 'const':
      return `must be ${show(schema)}`;
    case 'contains':
      return 'lacks an item that the schema asks for';
    case 'not':
      return 'is what the schema rules out';
    default:
      return message ?? 'does not fit the schema';
  }
}
