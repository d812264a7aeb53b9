import { isPlainObject } from '../json.js';
import { childPath } from '../scenario/json-scan.js';

/** What a keyword of JSON Schema holds: a schema, a list or a map of schemas, or something else. */
type Holds = 'schema' | 'list' | 'map' | 'value';

const values = (...names: string[]) => names.map((name): [string, Holds] => [name, 'value']);

/** Every keyword of draft 2020-12 that is supported, with `definitions` of older drafts. */
export const KEYWORDS: ReadonlyMap<string, Holds> = new Map<string, Holds>([
  ['properties', 'map'],
  ['patternProperties', 'map'],
  ['dependentSchemas', 'map'],
  ['$defs', 'map'],
  ['definitions', 'map'],
  ['allOf', 'list'],
  ['anyOf', 'list'],
  ['oneOf', 'list'],
  ['prefixItems', 'list'],
  ['items', 'schema'],
  ['contains', 'schema'],
  ['additionalProperties', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['unevaluatedItems', 'schema'],
  ['propertyNames', 'schema'],
  ['contentSchema', 'schema'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ...values('$schema', '$id', '$ref', '$anchor', '$comment', 'title', 'description', 'default', 'examples'),
  ...values('deprecated', 'readOnly', 'writeOnly', 'type', 'enum', 'const', 'format', 'pattern'),
  ...values('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'uniqueItems'),
  ...values('minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains'),
  ...values('minProperties', 'maxProperties', 'required', 'dependentRequired'),
  ...values('contentMediaType', 'contentEncoding'),
]);

/** A schema inside a schema, and where it stands. */
interface Part {
  keyword: string;
  path: string;
  schema: unknown;
}

/** The schemas directly inside a schema. */
export function partsOf(schema: Record<string, unknown>, path: string): Part[] {
  return Object.entries(schema).flatMap(([keyword, value]): Part[] => {
    const at = childPath(path, keyword);
    const holds = KEYWORDS.get(keyword);
    if (holds === 'schema') return [{ keyword, path: at, schema: value }];
    if (holds === 'list' && Array.isArray(value))
      return value.map((each: unknown, n) => ({ keyword, path: childPath(at, n), schema: each }));
    if (holds === 'map' && isPlainObject(value))
      return Object.entries(value).map(([key, each]) => ({
        keyword,
        path: childPath(at, key),
        schema: each,
      }));
    return [];
  });
}

/** Calls `visit` with every schema in a schema that is an object, itself first. */
export function walkSchema(
  schema: unknown,
  path: string,
  visit: (schema: Record<string, unknown>, path: string) => void,
): void {
  if (!isPlainObject(schema)) return;
  visit(schema, path);
  for (const part of partsOf(schema, path)) walkSchema(part.schema, part.path, visit);
}

/** A copy in which `change` was applied to every schema that is an object, the inner ones first. */
export function mapSchema(
  schema: unknown,
  change: (schema: Record<string, unknown>) => Record<string, unknown>,
): unknown {
  if (!isPlainObject(schema)) return schema;
  const inner = (each: unknown) => mapSchema(each, change);
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    const holds = KEYWORDS.get(keyword);
    if (holds === 'schema') return [keyword, inner(value)];
    if (holds === 'list' && Array.isArray(value)) return [keyword, value.map(inner)];
    if (holds === 'map' && isPlainObject(value))
      return [keyword, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inner(each)]))];
    return [keyword, value];
  });
  return change(Object.fromEntries(entries));
}

/** The schema inside `root` that a local reference means, `#` or `#/$defs/name`; undefined when there is none. */
export function referenced(root: unknown, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = unescaped(part);
    if (key === undefined || typeof at !== 'object' || at === null || !Object.hasOwn(at, key))
      return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function unescaped(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
