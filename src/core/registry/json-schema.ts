import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { digestOf } from '../digest.js';
import { canonicalJson } from '../json.js';
import { checkPattern } from '../patterns/dialect.js';
import type { CodedProblem } from './codes.js';
import type { JsonObject } from './model.js';
import { schemaFlaws } from './schema-check.js';
import { problemsFrom } from './schema-errors.js';
import { KEYWORDS, mapSchema } from './schema-walk.js';

/** Most schemas that are applied while one value is checked: references can multiply without end. */
const MOST_STEPS = 200_000;

/** Compiled schemas that are kept. */
const MOST_KEPT = 256;

/** Set in every schema of a compiled copy; no schema of a user's can have it. */
const STEP = '_step';

class TooCostly extends Error {}

let steps = 0;

function step(): boolean {
  steps += 1;
  if (steps > MOST_STEPS) throw new TooCostly();
  return true;
}

interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/** RE2 instead of V8's engine, so that no pattern can hang. */
const linear = Object.assign(
  (pattern: string): Pattern => {
    const program = RE2JS.compile(pattern);
    return { test: (text) => program.test(text), toString: () => `/${pattern}/` };
  },
  { code: 'linear' },
);

/** One `ajv` a schema: it keeps all that it compiles, and ids of one must not meet those of another. */
function freshAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    meta: false,
    validateSchema: false,
    strict: false,
    logger: false,
    allErrors: true,
    verbose: true,
    ownProperties: true,
    inlineRefs: false,
    code: { regExp: linear, optimize: false },
    formats: { re2: { type: 'string', validate: (text: string) => checkPattern(text).ok } },
  });
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', validate: hasUniqueItems, error: { message: '' } });
  ajv.addKeyword({ keyword: STEP, validate: step });
  return ajv;
}

/** By canonical text: comparing every item with every other takes minutes for a long list. */
function hasUniqueItems(wanted: boolean, items: readonly unknown[]): boolean {
  return !wanted || new Set(items.map(canonicalJson)).size === items.length;
}

/** Keywords that have no say; `ajv` would look for names to refer to in them. */
const SILENT: ReadonlySet<string> = new Set(['$schema', '$id', '$comment', 'default', 'examples']);

function judging(schema: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([key]) => KEYWORDS.has(key) && !SILENT.has(key));
  return Object.fromEntries(kept);
}

interface Compiled {
  validate: ValidateFunction;
  /** The copy that was compiled; references are resolved in it. */
  root: unknown;
}

function compile(schema: JsonObject): Compiled {
  const root = mapSchema(schema, (each) => ({ ...judging(each), [STEP]: true }));
  return { validate: freshAjv().compile(root as JsonObject), root };
}

const bySchema = new WeakMap<JsonObject, Compiled>();
const byDigest = new Map<string, Compiled>();

function compiled(schema: JsonObject): Compiled {
  let known = bySchema.get(schema);
  if (known !== undefined) return known;
  const digest = digestOf(schema);
  known = byDigest.get(digest) ?? compile(schema);
  byDigest.delete(digest);
  byDigest.set(digest, known);
  if (byDigest.size > MOST_KEPT) byDigest.delete(byDigest.keys().next().value as string);
  bySchema.set(schema, known);
  return known;
}

/** Everything that is wrong with a schema; `path` is where it stands in its document. */
export function problemsOfSchema(schema: unknown, path: string): CodedProblem[] {
  const flaws = schemaFlaws(schema, path);
  if (flaws.length > 0) return flaws;
  try {
    compiled(schema as JsonObject);
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ code: 'BAD_SCHEMA', path, message: `is not a valid JSON Schema: ${reason}` }];
  }
}

/** The first thing that is wrong with a JSON Schema (draft 2020-12); undefined when nothing is. */
export function schemaProblem(schema: unknown): string | undefined {
  const [first] = problemsOfSchema(schema, '');
  if (first === undefined) return undefined;
  return first.path === '' ? first.message : `${first.path}: ${first.message}`;
}

/**
 * Everything that a schema holds against a value, which stands at `path`. Never throws, and never
 * takes long: patterns are RE2's, and a check of more than 200,000 steps is given up as a problem.
 * Formats are annotations, all but `re2`, a pattern of Sluice's own dialect.
 */
export function schemaProblems(schema: JsonObject, value: unknown, path: string): CodedProblem[] {
  steps = 0;
  let errors: ErrorObject[];
  let root: unknown;
  try {
    const { validate, root: copy } = compiled(schema);
    root = copy;
    if (validate(value)) return [];
    errors = validate.errors ?? [];
  } catch (error) {
    if (error instanceof TooCostly || error instanceof RangeError)
      return [{ code: 'VALUE_TOO_COSTLY', path, message: 'takes too long to check against the schema' }];
    return problemsOfSchema(schema, path);
  }
  return problemsFrom(errors, root, value, path);
}
