import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/core/problem.js';
import {
  problemsOfSchema,
  schemaProblem,
  schemaProblems,
} from '../../../../src/core/registry/json-schema.js';
import type { JsonObject } from '../../../../src/core/registry/model.js';

const fromJson = (text: string) => JSON.parse(text) as JsonObject;

function told(problems: readonly Problem[]): string[] {
  return problems.map(({ code, path, message, nearest }) =>
    [`${code} ${path}: ${message}`, ...(nearest === undefined ? [] : [nearest])].join(' -> '),
  );
}

describe('a schema', () => {
  it.each<[string, unknown]>([
    ['empty', {}],
    ['of an object', { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }],
    ['with a list of types', { type: ['object', 'null'] }],
    ['with local references', { $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#' } } } }],
    ['with an anchor', { items: { $ref: '#one' }, $defs: { a: { $anchor: 'one', type: 'string' } } }],
    ['of draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: true } }],
    ['with an id', { $id: 'https://example.com/a', type: 'object', properties: { b: { $ref: '#' } } }],
    ['with keys of the author’s own', { 'x-order': 1, properties: { a: { 'x-secret': true } } }],
    ['with an RE2 pattern', { pattern: '(?P<year>\\d{4})' }],
    ['with a property named like a keyword', { properties: { $ref: { type: 'string' }, $id: {}, type: {} } }],
    ['with a property named like something of Object’s', { properties: { constructor: {}, toString: {} } }],
    ['with booleans for schemas', { properties: { a: true, b: false }, additionalProperties: false }],
    ['with an unknown format', { format: 'of-my-own' }],
  ])('is accepted %s', (_, schema) => {
    expect(schemaProblem(schema)).toBeUndefined();
  });

  it.each<[string, unknown, string[]]>([
    ['no object', [], ['BAD_SCHEMA s: must be a JSON Schema: an object']],
    ['a boolean', true, ['BAD_SCHEMA s: must be a JSON Schema: an object']],
    ['an unknown type', { type: 'strng' }, ['BAD_SCHEMA s.type: is no type of JSON Schema -> string']],
    [
      'an unknown type in a list',
      { type: ['string', 'intger'] },
      ['BAD_SCHEMA s.type: is no type of JSON Schema -> integer'],
    ],
    [
      'a keyword with a slip',
      { properties: { a: { requried: [] } } },
      [
        'BAD_SCHEMA s.properties.a.requried: is no keyword of JSON Schema that is supported; names of your own start with "x-" -> required',
      ],
    ],
    ['a bad bound', { minLength: -1 }, ['BAD_SCHEMA s.minLength: must be at least 0']],
    ['required that is no list', { required: true }, ['BAD_SCHEMA s.required: must be a list']],
    [
      'a remote reference',
      { $ref: 'https://example.com/schema.json' },
      ['SCHEMA_REFERENCE s.$ref: refers to another document; only references inside the schema are followed'],
    ],
    [
      'a reference to nothing',
      { properties: { a: { $ref: '#/$defs/b' } } },
      ['SCHEMA_REFERENCE s.properties.a.$ref: refers to no schema inside this one'],
    ],
    [
      'a reference to what is no schema',
      { $ref: '#/examples/0', examples: [{ type: 'string' }] },
      ['SCHEMA_REFERENCE s.$ref: refers to no schema inside this one'],
    ],
    [
      'a pattern with lookahead',
      { pattern: '(?=a)b' },
      [
        'SCHEMA_PATTERN s.pattern: is not a valid pattern: schemas have RE2’s syntax, without lookaround and backreferences',
      ],
    ],
    [
      'a pattern that does not compile among the keys',
      { patternProperties: { '(': {} } },
      [
        'SCHEMA_PATTERN s.patternProperties["("]: is not a valid pattern: the group at position 1 is never closed',
      ],
    ],
    [
      'an id inside',
      { $defs: { a: { $id: 'x' } } },
      ['BAD_SCHEMA s.$defs.a.$id: is allowed at the top of a schema alone'],
    ],
    [
      'another draft',
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      ['BAD_SCHEMA s.$schema: is another draft'],
    ],
  ])('is refused for %s', (_, schema, expected) => {
    expect(told(problemsOfSchema(schema, 's'))).toEqual(expected);
  });

  it('tells everything that is wrong with it at once', () => {
    const schema = {
      type: 'objct',
      properties: { a: { type: 'strin', minimum: 'x' }, b: { $ref: 'b.json' } },
    };
    expect(problemsOfSchema(schema, 'input_schema').map(({ path }) => path)).toEqual([
      'input_schema.type',
      'input_schema.properties.a.type',
      'input_schema.properties.b.$ref',
      'input_schema.properties.a.minimum',
    ]);
  });

  it('that is nested without end is refused, not followed', () => {
    let schema: Record<string, unknown> = {};
    for (let n = 0; n < 20_000; n++) schema = { not: schema };
    expect(schemaProblem(schema)).toBe('is nested deeper than 64 levels');
  });
});

describe('a value against a schema', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1 },
      level: { enum: ['low', 'high'] },
      count: { type: 'integer', minimum: 1, maximum: 9 },
      tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
      inner: { type: 'object', properties: { max: { type: 'number' } }, additionalProperties: false },
    },
    required: ['path'],
    additionalProperties: false,
  };

  it('has no problem when it fits', () => {
    const value = { path: 'x', level: 'low', count: 9, tags: ['a', 'b'], inner: { max: 0.5 } };
    expect(schemaProblems(schema, value, '')).toEqual([]);
  });

  it('is told every problem at once, with place, found, allowed and nearest name', () => {
    const value = { pth: 'x', level: 'hgh', count: 1.5, tags: ['a', 'a', 1], inner: { mx: 1 } };
    expect(schemaProblems(schema, value, 'args')).toEqual([
      { code: 'VALUE_MISSING', path: 'args.path', message: 'is missing' },
      {
        code: 'VALUE_UNKNOWN',
        path: 'args.pth',
        message: 'is unknown here',
        allowed: ['path', 'level', 'count', 'tags', 'inner'],
        nearest: 'path',
      },
      {
        code: 'VALUE_NOT_ALLOWED',
        path: 'args.level',
        message: 'is not one of the allowed values',
        found: '"hgh"',
        allowed: ['low', 'high'],
        nearest: 'high',
      },
      { code: 'VALUE_TYPE', path: 'args.count', message: 'must be a whole number', found: '1.5' },
      { code: 'VALUE_TYPE', path: 'args.tags[2]', message: 'must be a string', found: '1' },
      {
        code: 'VALUE_INVALID',
        path: 'args.tags',
        message: 'must not have the same item twice',
        found: '["a","a",1]',
      },
      {
        code: 'VALUE_UNKNOWN',
        path: 'args.inner.mx',
        message: 'is unknown here',
        allowed: ['max'],
        nearest: 'max',
      },
    ]);
  });

  it.each<[string, JsonObject, unknown, string[]]>([
    [
      'types of alternatives',
      { anyOf: [{ type: 'string' }, { type: 'number' }] },
      [],
      ['VALUE_TYPE v: must be a string or a number'],
    ],
    [
      'the values of alternatives',
      { anyOf: [{ enum: ['success'] }, { pattern: '^ok$' }] },
      'sucess',
      ['VALUE_NOT_ALLOWED v: is not one of the allowed values -> success'],
    ],
    [
      'the names of which one is needed',
      { anyOf: [{ required: ['min'] }, { required: ['max'] }] },
      {},
      ['VALUE_MISSING v: needs min, or max'],
    ],
    [
      'alternatives behind references once',
      {
        oneOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }],
        $defs: { a: { maximum: 1 }, b: { minimum: 9 } },
      },
      5,
      ['VALUE_INVALID v: fits no alternative'],
    ],
    [
      'too many alternatives',
      { oneOf: [{ minimum: 1 }, { minimum: 2 }] },
      5,
      ['VALUE_INVALID v: fits several alternatives, of which one alone may fit'],
    ],
    [
      'bounds',
      { exclusiveMinimum: 5, multipleOf: 2 },
      5,
      ['VALUE_INVALID v: must be more than 5', 'VALUE_INVALID v: must be a multiple of 2'],
    ],
    ['a constant', { const: { a: 1 } }, 5, ['VALUE_INVALID v: must be {"a":1}']],
    ['what is ruled out', { not: { type: 'number' } }, 5, ['VALUE_INVALID v: is what the schema rules out']],
    [
      'a condition by what it asks for',
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      { if: { type: 'number' }, then: { maximum: 4 } },
      5,
      ['VALUE_INVALID v: must be at most 4'],
    ],
    [
      'a key that another needs',
      { dependentRequired: { a: ['b'] } },
      { a: 1 },
      ['VALUE_MISSING v.b: is missing; a needs it'],
    ],
    [
      'a name that is not allowed',
      { propertyNames: { enum: ['a'] } },
      { b: 1 },
      ['VALUE_UNKNOWN v.b: is unknown here'],
    ],
    [
      'a pattern of our own dialect',
      { format: 're2' },
      'a\\Z',
      ['VALUE_INVALID v: is not a valid pattern: \\Z is not part of RE2 (at position 2) -> \\z'],
    ],
  ])('is told %s', (_, asked, value, expected) => {
    expect(told(schemaProblems(asked, value, 'v'))).toEqual(expected);
  });

  it('knows no name whose schema is false, and lists those beside it', () => {
    const asked = { allOf: [{ properties: { 'a/b %': false, from: {} } }] };
    expect(schemaProblems(asked, { 'a/b %': 1 }, 'arguments')).toMatchObject([
      { code: 'VALUE_UNKNOWN', message: 'is unknown here', allowed: ['from'] },
    ]);
    const top = { properties: { from_hour: false, hour: {} } };
    expect(schemaProblems(top, { from_hour: 1 }, '')).toMatchObject([{ allowed: ['hour'] }]);
    expect(schemaProblems({ properties: { x: false } }, { x: 1 }, '')).toEqual([
      { code: 'VALUE_UNKNOWN', path: 'x', message: 'is unknown here' },
    ]);
  });

  it('may have the names of Object’s own properties, which are no values by themselves', () => {
    const asked = { required: ['constructor', 'toString'], additionalProperties: false };
    expect(told(schemaProblems(asked, fromJson('{"__proto__": 1}'), ''))).toEqual([
      'VALUE_MISSING constructor: is missing',
      'VALUE_MISSING toString: is missing',
      'VALUE_UNKNOWN __proto__: is unknown here: no names are taken',
    ]);
    const typed = fromJson('{"properties": {"constructor": {"type": "string"}}}');
    expect(schemaProblems(typed, {}, '')).toEqual([]);
    expect(told(schemaProblems(typed, { constructor: 1 }, ''))).toEqual([
      'VALUE_TYPE constructor: must be a string',
    ]);
  });

  it('is judged by patterns that cannot hang, case and all', () => {
    const asked = { pattern: '^(a+)+$' };
    expect(schemaProblems(asked, `${'a'.repeat(50_000)}b`, '')).toHaveLength(1);
    expect(schemaProblems(asked, 'aaa', '')).toEqual([]);
    expect(schemaProblems(asked, 'AAA', '')).toHaveLength(1);
  });

  it('is given up when references multiply without end', () => {
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n}`, twice(`d${n + 1}`)]));
    const bomb = { $ref: '#/$defs/d0', $defs: { ...defs, d40: {} } };
    expect(schemaProblem(bomb)).toBeUndefined();
    expect(told(schemaProblems(bomb, 1, 'v'))).toEqual([
      'VALUE_TOO_COSTLY v: takes too long to check against the schema',
    ]);
    expect(told(schemaProblems({ $ref: '#' }, 1, 'v'))).toEqual([
      'VALUE_TOO_COSTLY v: takes too long to check against the schema',
    ]);
  });

  it('of many items is compared in no time, and told a hundred problems at most', () => {
    const items = Array.from({ length: 20_000 }, (_, n) => ({ n }));
    expect(schemaProblems({ uniqueItems: true }, items, '')).toEqual([]);
    const problems = schemaProblems({ items: { type: 'string' } }, items, 'v');
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)?.message).toBe('has 19900 more problems');
    const alternatives = { items: { anyOf: [{ type: 'string' }, { type: 'number' }] } };
    expect(schemaProblems(alternatives, items, 'v')[0]?.message).toBe('must be a string or a number');
  });

  it('is refused by a schema that is none', () => {
    expect(told(schemaProblems({ type: 'strng' }, 1, 'v'))).toEqual([
      'BAD_SCHEMA v.type: is no type of JSON Schema -> string',
    ]);
  });
});
