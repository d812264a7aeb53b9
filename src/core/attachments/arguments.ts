import { isPlainObject, type Json } from '../json.js';
import { nearestName, type Problem, show } from '../problem.js';
import type { RegistryCode } from '../registry/codes.js';
import type { JsonObject } from '../registry/model.js';
import {
  type ArgumentShape,
  admits,
  itemShape,
  JSON_TYPES,
  type JsonType,
  propertySchemas,
  shapeOf,
  typeOf,
} from './argument-shape.js';

/** What follows an option on the command line; `true` when nothing does. */
type Word = string | true;

/** A word as the value that it stands for; undefined when it stands for none of that type. */
type Reading = { value: Json } | undefined;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const EXPECTED: Record<JsonType, string> = {
  boolean: 'true or false',
  null: 'null',
  integer: 'a whole number',
  number: 'a number',
  object: 'a JSON object',
  array: 'a list',
  string: 'a string',
};

function parsed(word: string): Json | undefined {
  try {
    return JSON.parse(word);
  } catch {
    return undefined;
  }
}

/** JSON's numbers, and of these the ones that are carried exactly: none out of range, no long whole one. */
function numberIn(word: string): number | undefined {
  if (!NUMBER.test(word)) return undefined;
  const value = Number(word);
  if (!Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(word) ? undefined : value;
}

function read(word: string, type: Exclude<JsonType, 'array'>): Reading {
  if (type === 'string') return { value: word };
  if (type === 'boolean') return word === 'true' || word === 'false' ? { value: word === 'true' } : undefined;
  if (type === 'null') return word === 'null' ? { value: null } : undefined;
  if (type === 'object') {
    const value = parsed(word);
    return isPlainObject(value) ? { value: value as Json } : undefined;
  }
  const value = numberIn(word);
  return value === undefined || (type === 'integer' && !Number.isSafeInteger(value)) ? undefined : { value };
}

/** Of several types the narrowest that reads the word: a string is what nothing else is. */
function readScalar(word: Word, shape: ArgumentShape): Reading {
  if (word === true) return admits(shape.types, 'boolean') ? { value: true } : undefined;
  const meant =
    shape.values?.find((each) => each === word) ??
    shape.values?.find((each) => typeof each !== 'string' && JSON.stringify(each) === word);
  if (meant !== undefined) return { value: meant };
  if (shape.types === null || shape.types.size === 0) return { value: word };
  for (const type of JSON_TYPES) {
    const reading = type !== 'array' && shape.types.has(type) ? read(word, type) : undefined;
    if (reading !== undefined) return reading;
  }
  return undefined;
}

/** A whole list as JSON text, when its items are what the list may hold; `[0-9]` is not, among strings. */
function readListText(word: Word | undefined, shape: ArgumentShape, root: JsonObject): Reading {
  const value = typeof word === 'string' && word.startsWith('[') ? parsed(word) : undefined;
  if (!Array.isArray(value)) return undefined;
  const fits = value.every((item, n) => admits(itemShape(shape, n, root).types, typeOf(item)));
  return fits ? { value } : undefined;
}

/** An item may itself be a list, as JSON text. */
function readItem(word: Word, shape: ArgumentShape, root: JsonObject): Reading {
  const list = shape.types?.has('array') ? readListText(word, shape, root) : undefined;
  return list ?? readScalar(word, shape);
}

function refused(option: string, word: Word, shape: ArgumentShape): Problem {
  const code: RegistryCode = word !== true && shape.values !== null ? 'VALUE_NOT_ALLOWED' : 'VALUE_TYPE';
  const expected = JSON_TYPES.filter((type) => shape.types?.has(type)).map((type) => EXPECTED[type]);
  const wanted = expected.length === 0 ? 'a value' : expected.join(' or ');
  const allowed = shape.values?.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const nearest = word === true || allowed === undefined ? undefined : nearestName(word, allowed);
  return {
    code,
    path: option,
    message: word === true ? `needs a value: ${wanted}` : `must be ${wanted}`,
    ...(word === true ? {} : { found: show(word) }),
    ...(allowed === undefined ? {} : { allowed }),
    ...(nearest === undefined ? {} : { nearest }),
  };
}

type Coerced = { value: Json } | { problems: Problem[] };

function coerceList(option: string, words: readonly Word[], shape: ArgumentShape, root: JsonObject): Coerced {
  const whole = words.length === 1 ? readListText(words[0], shape, root) : undefined;
  if (whole !== undefined) return whole;
  const value: Json[] = [];
  const problems: Problem[] = [];
  for (const [n, word] of words.entries()) {
    const item = itemShape(shape, n, root);
    const reading = readItem(word, item, root);
    if (reading === undefined) problems.push(refused(option, word, item));
    else value.push(reading.value);
  }
  return problems.length > 0 ? { problems } : { value };
}

function coerce(option: string, words: readonly Word[], shape: ArgumentShape, root: JsonObject): Coerced {
  const [first, ...more] = words;
  if (first === undefined) return { problems: [] };
  const list = shape.types?.has('array') ?? false;
  if (more.length > 0) {
    if (list || shape.types === null) return coerceList(option, words, shape, root);
    const message = `is given ${words.length} times, but takes one value`;
    return { problems: [{ code: 'VALUE_TYPE' satisfies RegistryCode, path: option, message }] };
  }
  const whole = list ? readListText(first, shape, root) : undefined;
  // A list alone takes its one item; where a single value is allowed too, that is what one word is.
  const single = list && shape.types?.size === 1 ? undefined : readScalar(first, shape);
  if (whole !== undefined || single !== undefined) return whole ?? single ?? { problems: [] };
  return list ? coerceList(option, words, shape, root) : { problems: [refused(option, first, shape)] };
}

/** `--max-rows` means the property `max-rows`, else `max_rows`, else whatever may be there beside them. */
function propertyFor(schema: JsonObject, key: string): { name: string; schemas: Json[] } {
  for (const name of [key, key.replaceAll('-', '_')]) {
    const schemas = propertySchemas(schema, name);
    if (schemas.length > 0) return { name, schemas };
  }
  const others = schema.additionalProperties;
  return { name: key, schemas: isPlainObject(others) ? [others as Json] : [] };
}

/**
 * Arguments from the command line, by the JSON Schema that they will be checked against: the words
 * after each option (its name without dashes; `true` where none follows) become what the schema's
 * types say, several a list. Where a type is not known, words stay strings. Each problem has the
 * option as its path; whether the arguments satisfy the schema is not looked at.
 */
export function coerceArguments(
  schema: JsonObject,
  given: Readonly<Record<string, readonly Word[]>>,
): { arguments: JsonObject; problems: Problem[] } {
  const properties = new Map<string, { option: string; words: Word[]; schemas: Json[] }>();
  for (const [key, words] of Object.entries(given)) {
    const { name, schemas } = propertyFor(schema, key);
    const before = properties.get(name);
    if (before === undefined) properties.set(name, { option: `--${key}`, words: [...words], schemas });
    else before.words.push(...words);
  }
  const values: [string, Json][] = [];
  const problems: Problem[] = [];
  for (const [name, { option, words, schemas }] of properties) {
    const coerced = coerce(option, words, shapeOf(schemas, schema), schema);
    if ('value' in coerced) values.push([name, coerced.value]);
    else problems.push(...coerced.problems);
  }
  return { arguments: Object.fromEntries(values), problems };
}
