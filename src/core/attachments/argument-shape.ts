import { isPlainObject, type Json } from '../json.js';
import type { JsonObject } from '../registry/model.js';

export const JSON_TYPES = ['boolean', 'null', 'integer', 'number', 'object', 'array', 'string'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

/** What a schema says about the form of a value, as far as words can be read by it. */
export interface ArgumentShape {
  /** Types that it allows; null: any. */
  types: ReadonlySet<JsonType> | null;
  /** From `const` and `enum`; null: any. */
  values: Json[] | null;
  /** Schemas that may describe it as a list. */
  lists: JsonObject[];
}

/** Schemas looked at for one argument, so that no web of references holds anyone up. */
const MOST_SCHEMAS = 1000;

const ANYTHING: ArgumentShape = { types: null, values: null, lists: [] };

interface Walk {
  root: JsonObject;
  left: number;
}

const KNOWN: ReadonlySet<unknown> = new Set(JSON_TYPES);
const isType = (value: unknown): value is JsonType => KNOWN.has(value);

/** The type of a JSON value; a whole number is an `integer`. */
export function typeOf(value: Json): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'boolean' | 'object' | 'string';
}

/** Whether a value of this type is among those; every whole number is a number. */
export function admits(types: ReadonlySet<JsonType> | null, type: JsonType): boolean {
  return types === null || types.has(type) || (type === 'integer' && types.has('number'));
}

function schemasAt(schema: JsonObject, keyword: string): Json[] {
  const value = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  return Array.isArray(value) ? value : [];
}

/** What `#/$defs/name` points at in the document; undefined when that is nothing. */
function referenced(reference: Json | undefined, root: JsonObject): Json | undefined {
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return undefined;
  let at: Json | undefined = root;
  for (const part of reference.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}

function both(a: ArgumentShape, b: ArgumentShape): ArgumentShape {
  const lists = [...a.lists, ...b.lists];
  const values = a.values ?? b.values;
  if (a.types === null || b.types === null) return { types: a.types ?? b.types, values, lists };
  const shared = JSON_TYPES.filter((type) => admits(a.types, type) && admits(b.types, type));
  // `number` admits both: a whole number needs no mention of its own.
  const types = shared.filter((type) => type !== 'integer' || !shared.includes('number'));
  return { types: new Set(types), values, lists };
}

function either(shapes: readonly ArgumentShape[]): ArgumentShape {
  const lists = shapes.flatMap((shape) => shape.lists);
  const types = shapes.map((shape) => shape.types);
  const values = shapes.map((shape) => shape.values);
  return {
    types: types.every((each) => each !== null) ? new Set(types.flatMap((each) => [...each])) : null,
    values: values.every((each) => each !== null) ? values.flat() : null,
    lists,
  };
}

function ofValues(values: Json[]): ArgumentShape {
  return { types: new Set(values.map(typeOf)), values, lists: [] };
}

/** What the schema says by itself, its parts and references left aside. */
function ownShapes(schema: JsonObject): ArgumentShape[] {
  const shapes: ArgumentShape[] = [];
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter(isType);
  if (types.length > 0) shapes.push({ ...ANYTHING, types: new Set(types) });
  if (Object.hasOwn(schema, 'const')) shapes.push(ofValues([schema.const ?? null]));
  if (Array.isArray(schema.enum)) shapes.push(ofValues(schema.enum));
  if ('items' in schema || 'prefixItems' in schema) shapes.push({ ...ANYTHING, lists: [schema] });
  return shapes;
}

function walk(schema: Json | undefined, state: Walk): ArgumentShape {
  if (!isPlainObject(schema) || state.left <= 0) return ANYTHING;
  state.left -= 1;
  const shapes = ownShapes(schema as JsonObject);
  shapes.push(walk(referenced(schema.$ref as Json, state.root), state));
  for (const part of schemasAt(schema as JsonObject, 'allOf')) shapes.push(walk(part, state));
  for (const keyword of ['anyOf', 'oneOf']) {
    const parts = schemasAt(schema as JsonObject, keyword).map((part) => walk(part, state));
    if (parts.length > 0) shapes.push(either(parts));
  }
  return shapes.reduce(both, ANYTHING);
}

/** The shape of what these schemas describe together, references into `root` followed. */
export function shapeOf(schemas: readonly Json[], root: JsonObject): ArgumentShape {
  const state = { root, left: MOST_SCHEMAS };
  return schemas.map((schema) => walk(schema, state)).reduce(both, ANYTHING);
}

/** The shape of the item at a position of a list. */
export function itemShape(shape: ArgumentShape, position: number, root: JsonObject): ArgumentShape {
  const items = shape.lists.map((list) => schemasAt(list, 'prefixItems')[position] ?? list.items ?? true);
  const state = { root, left: MOST_SCHEMAS };
  return items.length === 0 ? ANYTHING : either(items.map((item) => walk(item, state)));
}

function collect(schema: Json | undefined, name: string, state: Walk, found: Json[]): void {
  if (!isPlainObject(schema) || state.left <= 0) return;
  state.left -= 1;
  const { properties } = schema;
  if (isPlainObject(properties) && Object.hasOwn(properties, name)) found.push(properties[name] as Json);
  collect(referenced(schema.$ref as Json, state.root), name, state, found);
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    for (const part of schemasAt(schema as JsonObject, keyword)) collect(part, name, state, found);
  }
}

/** Every schema that the root, its parts and references give for a property; empty: it is not known. */
export function propertySchemas(root: JsonObject, name: string): Json[] {
  const found: Json[] = [];
  collect(root, name, { root, left: MOST_SCHEMAS }, found);
  return found;
}
