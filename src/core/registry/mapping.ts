import { isPlainObject, type Json } from '../json.js';
import { schemaProblems } from './json-schema.js';
import type { JsonObject, MappedArgument } from './model.js';
import { referenced, walkSchema } from './schema-walk.js';

export type Mapping = Readonly<Record<string, MappedArgument>>;

/** What becomes of an argument of the wrapped tool: named so outside, of one value, or never given. */
type Fate = { outside: string } | { value: Json } | 'absent';

/** The wrapped tool’s schema says something that cannot be followed through the mapping. */
export class UnfollowedSchema extends Error {}

/** Most schemas that are rewritten for one mapping: references can multiply without end. */
const MOST_REWRITTEN = 5_000;

/** Keywords about an object as a whole that would mean something else with other names in it. */
const UNFOLLOWED = ['patternProperties', 'propertyNames', 'minProperties', 'maxProperties', 'enum', 'const'];

/** Examples of arguments with their old names. */
const DROPPED: ReadonlySet<string> = new Set([
  'default',
  'examples',
  '$ref',
  '$anchor',
  '$defs',
  'definitions',
]);

function namesFrom(mapping: Mapping): ReadonlySet<string> {
  return new Set(Object.values(mapping).flatMap((each) => ('from' in each ? [each.from] : [])));
}

function fateOf(mapping: Mapping, from: ReadonlySet<string>, name: string): Fate {
  const mapped = Object.hasOwn(mapping, name) ? mapping[name] : undefined;
  if (mapped === undefined) return from.has(name) ? 'absent' : { outside: name };
  return 'from' in mapped ? { outside: mapped.from } : { value: mapped.value };
}

/**
 * Arguments of the wrapped tool for a call from outside: those that the mapping names are renamed or
 * fixed, and all others go on as they are. A name that `from` uses goes where the mapping says alone.
 */
export function mappedArguments(mapping: Mapping, given: JsonObject): JsonObject {
  const from = namesFrom(mapping);
  const rest = Object.entries(given).filter(([name]) => !Object.hasOwn(mapping, name) && !from.has(name));
  const mapped = Object.entries(mapping).flatMap(([name, each]): [string, Json][] => {
    if ('value' in each) return [[name, each.value]];
    return Object.hasOwn(given, each.from) ? [[name, given[each.from] as Json]] : [];
  });
  return Object.fromEntries([...rest, ...mapped]);
}

/**
 * The schema of the arguments outside, so that it holds for what is given exactly when the wrapped
 * tool's schema holds for what the mapping makes of it. Throws UnfollowedSchema.
 */
export function mappedSchema(schema: JsonObject, mapping: Mapping): JsonObject {
  if (Object.keys(mapping).length === 0) return schema;
  refuseOtherReferences(schema);
  const from = namesFrom(mapping);
  const hidden = Object.keys(mapping).filter((name) => !from.has(name));
  const rewritten = new Rewriter(schema, mapping).rewrite(schema);
  const whole: JsonObject = rewritten === false ? { not: {} } : rewritten === true ? {} : rewritten;
  const { properties = {}, ...rest } = whole;
  const { $defs, definitions } = schema;
  return {
    ...rest,
    properties: { ...(properties as JsonObject), ...Object.fromEntries(hidden.map((name) => [name, false])) },
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/** Whether no arguments outside could ever fit the wrapped tool, because of what is fixed. Throws UnfollowedSchema. */
export function isImpossible(schema: JsonObject, mapping: Mapping): boolean {
  return Object.keys(mapping).length > 0 && isEmpty(mappedSchema(schema, mapping).not);
}

/** A reference to a place that is rewritten would find something else there. */
function refuseOtherReferences(schema: JsonObject): void {
  walkSchema(schema, '', ({ $ref }) => {
    if (typeof $ref === 'string' && !/^#\/(?:\$defs|definitions)\/./.test($ref))
      throw new UnfollowedSchema(`the reference ${$ref}`);
  });
}

class Rewriter {
  #left = MOST_REWRITTEN;

  readonly #from: ReadonlySet<string>;

  constructor(
    private readonly root: JsonObject,
    private readonly mapping: Mapping,
  ) {
    this.#from = namesFrom(mapping);
  }

  #fate(name: string): Fate {
    return fateOf(this.mapping, this.#from, name);
  }

  /** A schema of the arguments as a whole, as it reads from outside. */
  rewrite(schema: unknown): JsonObject | boolean {
    if (typeof schema === 'boolean') return schema;
    if (!isPlainObject(schema)) throw new UnfollowedSchema('a schema that is none');
    this.#left -= 1;
    if (this.#left < 0) throw new UnfollowedSchema('references that multiply');
    const unfollowed = UNFOLLOWED.find((keyword) => Object.hasOwn(schema, keyword));
    if (unfollowed !== undefined) throw new UnfollowedSchema(unfollowed);
    const entries = Object.entries(schema).filter(([keyword]) => !DROPPED.has(keyword));
    const also: (JsonObject | boolean)[] = [];
    if (typeof schema.$ref === 'string') also.push(this.rewrite(referenced(this.root, schema.$ref)));
    const kept = entries.flatMap(([keyword, value]) => this.#keyword(keyword, value, also));
    if (!this.#fixedFit(schema)) return false;
    return folded(Object.fromEntries(kept), also);
  }

  #keyword(keyword: string, value: unknown, also: (JsonObject | boolean)[]): [string, Json][] {
    switch (keyword) {
      case 'properties':
        return [[keyword, this.#properties(value as JsonObject)]];
      case 'required': {
        const fates = (value as string[]).map((name) => this.#fate(name));
        if (fates.includes('absent')) also.push(false);
        const names = fates.flatMap((fate) => (isOutside(fate) ? [fate.outside] : []));
        return [[keyword, [...new Set(names)]]];
      }
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        return [[keyword, (value as unknown[]).map((each) => this.rewrite(each))]];
      case 'not':
      case 'if':
      case 'then':
      case 'else':
        return [[keyword, this.rewrite(value)]];
      case 'dependentRequired':
      case 'dependentSchemas':
        for (const [name, needs] of Object.entries(value as JsonObject))
          also.push(...this.#dependent(name, keyword === 'dependentRequired' ? { required: needs } : needs));
        return [];
      default:
        return [[keyword, value as Json]];
    }
  }

  /** One name outside may stand for several arguments: it has to fit each. */
  #properties(properties: JsonObject): JsonObject {
    const outside = new Map<string, Json[]>();
    for (const [name, schema] of Object.entries(properties)) {
      const fate = this.#fate(name);
      if (isOutside(fate)) outside.set(fate.outside, [...(outside.get(fate.outside) ?? []), schema]);
    }
    const entries = [...outside].map(([name, all]): [string, Json] => [
      name,
      all.length === 1 ? (all[0] as Json) : { allOf: all },
    ]);
    return Object.fromEntries(entries);
  }

  #dependent(name: string, needs: Json): (JsonObject | boolean)[] {
    const fate = this.#fate(name);
    if (fate === 'absent') return [];
    const then = this.rewrite(needs);
    return isOutside(fate) ? [{ if: { required: [fate.outside] }, then }] : [then];
  }

  /** Whether the fixed values fit what the schema says of their arguments. */
  #fixedFit({ properties = {}, additionalProperties = true }: Record<string, unknown>): boolean {
    const named = properties as JsonObject;
    return Object.entries(this.mapping).every(([name, each]) => {
      if ('from' in each) return true;
      const own = Object.hasOwn(named, name) ? named[name] : additionalProperties;
      return this.#fits(own as Json, each.value);
    });
  }

  #fits(schema: Json, value: Json): boolean {
    const { $defs, definitions } = this.root;
    if (typeof schema === 'boolean') return schema;
    const whole = {
      allOf: [schema],
      ...($defs === undefined ? {} : { $defs }),
      ...(definitions === undefined ? {} : { definitions }),
    };
    return schemaProblems(whole, value, '').length === 0;
  }
}

/** The schema without what always holds; `false` where a part of it never does. */
function folded(schema: JsonObject, also: readonly Json[]): JsonObject | boolean {
  const { allOf = [], anyOf, not, if: condition, then = true, else: otherwise = true, ...rest } = schema;
  const all = [...(allOf as Json[]), ...also];
  if (typeof condition === 'boolean') all.push(condition ? then : otherwise);
  else if (condition !== undefined) Object.assign(rest, { if: condition, then, else: otherwise });
  if (anyOf !== undefined && !(anyOf as Json[]).includes(true)) {
    const possible = (anyOf as Json[]).filter((each) => each !== false);
    if (possible.length === 0) return false;
    rest.anyOf = possible;
  }
  if (typeof not === 'boolean') all.push(!not);
  else if (not !== undefined) rest.not = not;
  if (all.includes(false)) return false;
  const open = all.filter((each) => each !== true);
  if (open.length > 0) rest.allOf = open;
  if (isEmpty(rest.properties) && rest.additionalProperties === undefined) delete rest.properties;
  if (isEmpty(rest.required)) delete rest.required;
  return Object.keys(rest).length === 0 ? true : rest;
}

function isEmpty(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isOutside(fate: Fate): fate is { outside: string } {
  return typeof fate === 'object' && 'outside' in fate;
}
