import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { isPlainObject } from '../json.js';
import { checkPattern } from '../patterns/dialect.js';
import { nearestName, type Problem, show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import type { CodedProblem } from './codes.js';
import { problemsFrom } from './schema-errors.js';
import { KEYWORDS, referenced, walkSchema } from './schema-walk.js';

/** Most schemas inside one schema; so that compiling takes less than a second. */
const MOST_SCHEMAS = 1_000;
/** Deepest nesting of a schema, values included. */
const MOST_LEVELS = 64;

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** Drafts whose schemas mean the same, as far as their keywords are known at all. */
const DRAFTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://json-schema.org/draft/2019-09/schema',
  'http://json-schema.org/draft-07/schema',
];

let meta: Ajv2020 | undefined;

/** Complaints of the meta-schema, all but those about `type`, which the walk words better. */
function metaErrors(schema: Record<string, unknown>): ErrorObject[] {
  meta ??= new Ajv2020({ strict: false, logger: false, allErrors: true, verbose: true, ownProperties: true });
  if (meta.validateSchema(schema) === true) return [];
  return (meta.errors ?? []).filter(({ instancePath }) => !/\/type(?:\/|$)/.test(instancePath));
}

function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isTooDeep(each, levels - 1));
}

/** Everything that is wrong with a schema short of what compiling it shows; `path` is where it stands. */
export function schemaFlaws(schema: unknown, path: string): CodedProblem[] {
  if (!isPlainObject(schema)) return [bad(path, 'must be a JSON Schema: an object', { found: show(schema) })];
  if (isTooDeep(schema, MOST_LEVELS)) return [bad(path, `is nested deeper than ${MOST_LEVELS} levels`)];
  const parts = new Map<Record<string, unknown>, string>();
  walkSchema(schema, path, (part, at) => parts.set(part, at));
  if (parts.size > MOST_SCHEMAS)
    return [bad(path, `has ${parts.size} schemas in it; at most ${MOST_SCHEMAS} are allowed`)];
  const flaws = [...parts].flatMap(([part, at]) => partFlaws(part, at, schema, parts));
  const { $schema, ...rest } = schema;
  const told = new Set(flaws.map((flaw) => flaw.path));
  const others = problemsFrom(metaErrors(rest), undefined, schema, path).filter(
    (each) => !told.has(each.path),
  );
  return [...flaws, ...others.map((each): CodedProblem => ({ ...each, code: 'BAD_SCHEMA' }))];
}

function bad(path: string, message: string, more: Omit<Partial<Problem>, 'code'> = {}): CodedProblem {
  return { code: 'BAD_SCHEMA', path, message, ...more };
}

function partFlaws(
  part: Record<string, unknown>,
  path: string,
  root: unknown,
  parts: ReadonlyMap<unknown, string>,
): CodedProblem[] {
  const flaws = [...keywordFlaws(part, path), ...typeFlaws(part, path), ...patternFlaws(part, path)];
  const { $ref, $schema, $id } = part;
  if (typeof $ref === 'string') {
    const target = referenced(root, $ref);
    const found = typeof target === 'boolean' || parts.has(target);
    flaws.push(...referenceFlaws($ref, childPath(path, '$ref'), found));
  }
  if ($id !== undefined && part !== root)
    flaws.push(bad(childPath(path, '$id'), 'is allowed at the top of a schema alone', { found: show($id) }));
  if ($schema !== undefined && !DRAFTS.includes(String($schema).replace(/#$/, '')))
    flaws.push(
      bad(childPath(path, '$schema'), 'is another draft', { found: show($schema), allowed: [...DRAFTS] }),
    );
  return flaws;
}

function keywordFlaws(part: Record<string, unknown>, path: string): CodedProblem[] {
  const names = [...KEYWORDS.keys()];
  const unknown = Object.keys(part).filter((key) => !KEYWORDS.has(key) && !key.startsWith('x-'));
  return unknown.map((key) => {
    const nearest = nearestName(key, names);
    const message = 'is no keyword of JSON Schema that is supported; names of your own start with "x-"';
    return bad(childPath(path, key), message, nearest === undefined ? {} : { nearest });
  });
}

function typeFlaws({ type }: Record<string, unknown>, path: string): CodedProblem[] {
  if (type === undefined) return [];
  const at = childPath(path, 'type');
  const given: unknown[] = Array.isArray(type) ? type : [type];
  if (given.length === 0) return [bad(at, 'must not be empty', { allowed: TYPES })];
  return given
    .filter((each) => typeof each !== 'string' || !TYPES.includes(each))
    .map((each) => {
      const nearest = typeof each === 'string' ? nearestName(each, TYPES) : undefined;
      const more = nearest === undefined ? {} : { nearest };
      return bad(at, 'is no type of JSON Schema', { found: show(each), allowed: TYPES, ...more });
    });
}

function patternFlaws(part: Record<string, unknown>, path: string): CodedProblem[] {
  const own: [string, unknown][] = [[childPath(path, 'pattern'), part.pattern]];
  const keys = isPlainObject(part.patternProperties) ? Object.keys(part.patternProperties) : [];
  const at = childPath(path, 'patternProperties');
  return [...own, ...keys.map((key): [string, unknown] => [childPath(at, key), key])].flatMap(
    ([place, pattern]) => {
      const message = typeof pattern === 'string' ? patternProblem(pattern) : undefined;
      return message === undefined
        ? []
        : [{ code: 'SCHEMA_PATTERN', path: place, message, found: show(pattern) }];
    },
  );
}

function patternProblem(pattern: string): string | undefined {
  const checked = checkPattern(pattern);
  const proposal = checked.ok || checked.proposal === undefined ? '' : `; RE2 spells it ${checked.proposal}`;
  if (!checked.ok) return `is not a valid pattern: ${checked.message}${proposal}`;
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch {
    return 'is not a valid pattern: schemas have RE2’s syntax, without lookaround and backreferences';
  }
}

function referenceFlaws($ref: string, path: string, found: boolean): CodedProblem[] {
  if (!$ref.startsWith('#')) {
    const message = 'refers to another document; only references inside the schema are followed';
    return [{ code: 'SCHEMA_REFERENCE', path, message, found: show($ref) }];
  }
  const anchored = /^#[^/]/.test($ref);
  if (anchored || found) return [];
  return [
    { code: 'SCHEMA_REFERENCE', path, message: 'refers to no schema inside this one', found: show($ref) },
  ];
}
