import { isPlainObject } from '../json.js';
import { schemaProblems } from './json-schema.js';
import type { JsonObject } from './model.js';
import { referenced } from './schema-walk.js';

/** The schemas in a schema that speak of the same object as it does, references followed. */
function* aboutTheSame(root: JsonObject, schema: unknown, seen = new Set<unknown>()): Generator<JsonObject> {
  if (!isPlainObject(schema) || seen.has(schema)) return;
  seen.add(schema);
  yield schema as JsonObject;
  const { allOf, anyOf, oneOf, if: condition, then, else: otherwise, dependentSchemas, $ref } = schema;
  const inside = [allOf, anyOf, oneOf, condition, then, otherwise].flat();
  if (isPlainObject(dependentSchemas)) inside.push(...Object.values(dependentSchemas));
  if (typeof $ref === 'string') inside.push(referenced(root, $ref));
  for (const each of inside) yield* aboutTheSame(root, each, seen);
}

/** The names that a schema of arguments gives, and whether it says that others may be there. */
function namesOf(schema: JsonObject) {
  const known = new Set<string>();
  const hidden = new Set<string>();
  const patterns: string[] = [];
  let others: unknown;
  for (const part of aboutTheSame(schema, schema)) {
    for (const [name, each] of Object.entries(part.properties ?? {}))
      (each === false ? hidden : known).add(name);
    patterns.push(...Object.keys(part.patternProperties ?? {}));
    if (others !== false) others = part.additionalProperties ?? part.unevaluatedProperties ?? others;
  }
  return { known, hidden, patterns, others };
}

/**
 * Names of all arguments that a schema mentions and allows: none, where it takes none; undefined where
 * it names none and yet takes some.
 */
export function argumentNames(schema: JsonObject): string[] | undefined {
  const { known, patterns, others } = namesOf(schema);
  const isOpen = known.size === 0 && (others !== false || patterns.length > 0);
  return isOpen ? undefined : [...known];
}

/**
 * Whether an argument of this name means something to a schema: it is named in it, or other names are
 * taken, by their form, because the schema says so, or because it gives no names at all.
 */
export function takesArgument(schema: JsonObject, name: string): boolean {
  const { known, hidden, patterns, others } = namesOf(schema);
  if (known.has(name)) return true;
  if (hidden.has(name)) return false;
  const forms = { anyOf: patterns.map((pattern) => ({ pattern })) };
  if (patterns.length > 0 && schemaProblems(forms, name, '').length === 0) return true;
  return others === undefined ? known.size + patterns.length === 0 : others !== false;
}
