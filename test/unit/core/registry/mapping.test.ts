import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/core/json.js';
import { schemaProblem, schemaProblems } from '../../../../src/core/registry/json-schema.js';
import { type Mapping, mappedArguments, mappedSchema } from '../../../../src/core/registry/mapping.js';
import type { JsonObject } from '../../../../src/core/registry/model.js';

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer' }, deep: { type: 'boolean' } },
  required: ['path', 'limit'],
  additionalProperties: false,
};

describe('an argument mapping', () => {
  it('renames and fixes arguments, and leaves the others', () => {
    const mapping = { path: { from: 'file' }, limit: { value: 5 } };
    expect(mappedArguments(mapping, { file: 'a', deep: true })).toEqual({ path: 'a', limit: 5, deep: true });
    expect(mappedSchema(SCHEMA, mapping)).toMatchObject({
      properties: { file: { type: 'string' }, deep: { type: 'boolean' }, path: false, limit: false },
      required: ['file'],
    });
  });

  it('may swap names, and may give one argument to two', () => {
    const swap = { path: { from: 'limit' }, limit: { from: 'path' } };
    expect(mappedArguments(swap, { path: 1, limit: 'a' })).toEqual({ path: 'a', limit: 1 });
    const both = { path: { from: 'x' }, deep: { from: 'x' } };
    expect(mappedArguments(both, { x: 'a' })).toEqual({ path: 'a', deep: 'a' });
    expect(mappedSchema(SCHEMA, both).properties).toMatchObject({
      x: { allOf: [{ type: 'string' }, { type: 'boolean' }] },
    });
  });

  it('takes a name that it uses away from the argument that had it', () => {
    const mapping = { path: { from: 'limit' } };
    expect(mappedArguments(mapping, { limit: 'a' })).toEqual({ path: 'a' });
  });

  it('lets a fixed argument not be given from outside', () => {
    const schema = mappedSchema(SCHEMA, { limit: { value: 5 } });
    expect(schemaProblems(schema, { path: 'a', limit: 9 }, '')).toMatchObject([
      { code: 'VALUE_UNKNOWN', path: 'limit' },
    ]);
  });

  it('does no harm with names of Object’s own properties', () => {
    const given = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as JsonObject;
    const args = mappedArguments({ constructor: { from: 'toString' } }, given);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(args.polluted).toBeUndefined();
    expect(Object.hasOwn(args, 'constructor')).toBe(false);
  });

  it.each<[string, JsonObject]>([
    ['patternProperties', { patternProperties: { '^a': {} } }],
    ['a list of allowed objects', { allOf: [{ enum: [{ path: 'a' }] }] }],
    ['a reference to the whole', { properties: { path: { $ref: '#' } } }],
    ['a reference to an argument', { properties: { path: {}, limit: { $ref: '#/properties/path' } } }],
  ])('is refused where the schema has %s', (_, schema) => {
    expect(() => mappedSchema(schema, { path: { from: 'file' } })).toThrow();
  });

  it('follows references that multiply only so far', () => {
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, twice(`d${n + 1}`)]));
    const bomb: JsonObject = { $ref: '#/$defs/d0', $defs: { ...defs, d40: {} } };
    expect(() => mappedSchema(bomb, { path: { from: 'file' } })).toThrow('multiply');
  });
});

const NAMES = ['a', 'b', 'c', 'd'];
const name = fc.constantFrom(...NAMES);
const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('x', 'y'), fc.boolean());
const valueSchema: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>({ type: 'string' }, { type: 'integer' }, { minimum: 2 }, true, false),
  fc.constantFrom<Json>({ $ref: '#/$defs/text' }, { enum: ['x', 1, true] }),
);

const OF_NAMES = {
  properties: fc.dictionary(name, valueSchema, { maxKeys: 3 }),
  required: fc.uniqueArray(name, { maxLength: 2 }),
  additionalProperties: fc.oneof({ weight: 2, arbitrary: fc.constant(true) }, valueSchema),
  dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 1 }),
};
/** Most keywords are absent from most schemas, or nothing would ever fit. */
function seldom(keywords: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> {
  const optional = Object.entries(keywords).map(([keyword, holds]) =>
    fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      holds.map((each) => [[keyword, each]]),
    ),
  );
  return fc.tuple(...optional).map((given) => Object.fromEntries(given.flat()) as JsonObject);
}

const inner = seldom(OF_NAMES);
const top = seldom({
  ...OF_NAMES,
  dependentSchemas: fc.dictionary(name, inner, { maxKeys: 1 }),
  anyOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
  not: inner,
  if: inner,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: inner,
  else: inner,
  $ref: fc.constant('#/$defs/whole'),
});
const schemas = fc
  .tuple(top, inner)
  .map(([schema, whole]) => ({ ...schema, $defs: { text: { type: 'string' }, whole } }) as JsonObject);

const mappings: fc.Arbitrary<Mapping> = fc.dictionary(
  name,
  fc.oneof(
    fc.constantFrom(...NAMES, 'e').map((from) => ({ from })),
    value.map((fixed) => ({ value: fixed })),
  ),
  { maxKeys: 3 },
);

describe('the schema outside', () => {
  it('holds for arguments exactly when the wrapped one holds for what they are mapped to', () => {
    let held = 0;
    fc.assert(
      fc.property(
        schemas,
        mappings,
        fc.array(fc.dictionary(fc.constantFrom(...NAMES, 'e'), value), { minLength: 6, maxLength: 6 }),
        (inner, mapping, calls) => {
          const outer = mappedSchema(inner, mapping);
          expect(schemaProblem(outer)).toBeUndefined();
          const from = Object.values(mapping).flatMap((each) => ('from' in each ? [each.from] : []));
          const hidden = Object.keys(mapping).filter((each) => !from.includes(each));
          for (const args of calls) {
            const fits = schemaProblems(outer, args, '').length === 0;
            const names = Object.keys(args).some((each) => hidden.includes(each));
            const innerFits = schemaProblems(inner, mappedArguments(mapping, args), '').length === 0;
            expect(fits).toBe(!names && innerFits);
            if (fits) held += 1;
          }
        },
      ),
      { numRuns: 40 },
    );
    expect(held).toBeGreaterThan(10);
  });
});
