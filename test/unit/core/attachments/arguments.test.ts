import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coerceArguments } from '../../../../src/core/attachments/arguments.js';
import type { JsonObject } from '../../../../src/core/registry/model.js';

type Words = (string | true)[];

/** The value that `--x` has by this schema; the messages of its problems when there are any. */
function read(property: JsonObject | boolean, words: Words, more: JsonObject = {}): unknown {
  const schema = { type: 'object', properties: { x: property }, ...more };
  const { arguments: values, problems } = coerceArguments(schema, { x: words });
  return problems.length > 0 ? { problems: problems.map(({ message }) => message) } : values.x;
}
const problem = (...messages: string[]) => ({ problems: messages });

describe('coerceArguments', () => {
  it.each<[string, JsonObject | boolean, Words, unknown]>([
    ['a string stays one, whatever it looks like', { type: 'string' }, ['5'], '5'],
    ['an empty string is a string', { type: 'string' }, [''], ''],
    ['a whole number', { type: 'integer' }, ['-12'], -12],
    ['a whole number in another notation', { type: 'integer' }, ['1e3'], 1000],
    ['a number', { type: 'number' }, ['0.25'], 0.25],
    ['a number as large as they come', { type: 'number' }, ['1e300'], 1e300],
    ['true', { type: 'boolean' }, ['true'], true],
    ['false', { type: 'boolean' }, ['false'], false],
    ['a flag', { type: 'boolean' }, [true], true],
    ['null', { type: 'null' }, ['null'], null],
    ['an object as JSON', { type: 'object' }, ['{"a":[1]}'], { a: [1] }],
    ['one word of a list', { type: 'array', items: { type: 'string' } }, ['a'], ['a']],
    ['several words of a list', { type: 'array', items: { type: 'integer' } }, ['1', '2'], [1, 2]],
    ['a list as JSON', { type: 'array', items: { type: 'integer' } }, ['[1,2]'], [1, 2]],
    ['an empty list as JSON', { type: 'array' }, ['[]'], []],
    ['a pattern is no list of numbers', { type: 'array', items: { type: 'string' } }, ['[0]'], ['[0]']],
    [
      'a list by position',
      { prefixItems: [{ type: 'string' }, { type: 'integer' }], type: 'array' },
      ['a', '5'],
      ['a', 5],
    ],
    [
      'a list of lists',
      { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
      ['[1]', '[2]'],
      [[1], [2]],
    ],
    ['a list of flags', { type: 'array', items: { type: 'boolean' } }, [true, 'false'], [true, false]],
    ['null where it may be', { type: ['string', 'null'] }, ['null'], null],
    ['the narrowest of several types', { type: ['string', 'integer', 'boolean'] }, ['5'], 5],
    ['the string when no other type reads it', { type: ['string', 'integer'] }, ['5 GB'], '5 GB'],
    ['either of anyOf', { anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, ['true'], true],
    ['either of oneOf', { oneOf: [{ type: 'integer' }, { type: 'string' }] }, ['7'], 7],
    ['all of allOf', { allOf: [{ type: ['integer', 'string'] }, { type: 'number' }] }, ['7'], 7],
    [
      'a single value where a list may be too',
      { anyOf: [{ type: 'string' }, { type: 'array' }] },
      ['a'],
      'a',
    ],
    [
      'a list where a single value may be too',
      { anyOf: [{ type: 'string' }, { type: 'array' }] },
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['a constant', { const: 5 }, ['5'], 5],
    ['a value of an enum', { enum: ['5', 5, null] }, ['5'], '5'],
    ['null of an enum', { enum: ['a', null] }, ['null'], null],
    ['a string that an enum does not have is left to the schema', { enum: ['a', 'b'] }, ['c'], 'c'],
    ['a reference', { $ref: '#/$defs/n' }, ['5'], 5],
    ['no type: a string', {}, ['5'], '5'],
    ['no type: a list when it is repeated', true, ['5', 'a'], ['5', 'a']],
    ['no type: a flag', {}, [true], true],
    ['nothing allowed is left to the schema', { type: 'string', allOf: [{ type: 'integer' }] }, ['5'], '5'],
  ])('%s', (_name, property, words, expected) => {
    expect(read(property, words, { $defs: { n: { type: 'integer' } } })).toEqual(expected);
  });

  it.each<[string, JsonObject, Words, ...string[]]>([
    ['words', { type: 'integer' }, ['five'], 'must be a whole number'],
    ['a fraction', { type: 'integer' }, ['1.5'], 'must be a whole number'],
    [
      'a whole number that cannot be carried',
      { type: 'integer' },
      ['9007199254740993'],
      'must be a whole number',
    ],
    ['a long number that cannot be carried', { type: 'number' }, ['9007199254740993'], 'must be a number'],
    ['a number out of range', { type: 'number' }, ['1e400'], 'must be a number'],
    ['what no part allows', { allOf: [{ type: 'number' }, { type: 'number' }] }, ['x'], 'must be a number'],
    ['hexadecimal', { type: 'number' }, ['0x10'], 'must be a number'],
    ['spaces', { type: 'number' }, [' 1'], 'must be a number'],
    ['nothing', { type: 'number' }, [''], 'must be a number'],
    ['NaN', { type: 'number' }, ['NaN'], 'must be a number'],
    ['yes', { type: 'boolean' }, ['yes'], 'must be true or false'],
    ['a flag without its value', { type: 'integer' }, [true], 'needs a value: a whole number'],
    ['a flag for a list', { type: 'array', items: { type: 'string' } }, [true], 'needs a value: a string'],
    ['broken JSON', { type: 'object' }, ['{a}'], 'must be a JSON object'],
    ['a list for an object', { type: 'object' }, ['[1]'], 'must be a JSON object'],
    ['a value twice', { type: 'integer' }, ['1', '2'], 'is given 2 times, but takes one value'],
    [
      'each bad item',
      { type: 'array', items: { type: 'integer' } },
      ['a', '1', 'b'],
      'must be a whole number',
      'must be a whole number',
    ],
    ['no value of an enum', { enum: [1, 2] }, ['x'], 'must be a whole number'],
    ['none of several', { type: ['integer', 'boolean'] }, ['x'], 'must be true or false or a whole number'],
  ])('refuses %s', (_name, property, words, ...messages) => {
    expect(read(property, words)).toEqual(problem(...messages));
  });

  it('names the option, what was found, what is allowed and what is nearest', () => {
    const schema = { properties: { level: { enum: [10, 20, 200] }, max_rows: { type: 'integer' } } };
    const { arguments: values, problems } = coerceArguments(schema, { level: ['20O'], 'max-rows': ['many'] });
    expect(values).toEqual({});
    expect(problems).toEqual([
      {
        code: 'VALUE_NOT_ALLOWED',
        path: '--level',
        message: 'must be a whole number',
        found: '"20O"',
        allowed: ['10', '20', '200'],
        nearest: '20',
      },
      { code: 'VALUE_TYPE', path: '--max-rows', message: 'must be a whole number', found: '"many"' },
    ]);
  });

  it('reads a key with dashes as the property of that name, else as the one with underscores', () => {
    const dashed = { properties: { 'max-rows': { type: 'integer' }, max_rows: { type: 'string' } } };
    expect(coerceArguments(dashed, { 'max-rows': ['5'] }).arguments).toEqual({ 'max-rows': 5 });
    const underscored = { properties: { max_rows: { type: 'integer' } } };
    expect(coerceArguments(underscored, { 'max-rows': ['5'] }).arguments).toEqual({ max_rows: 5 });
    expect(coerceArguments({}, { 'max-rows': ['5'] }).arguments).toEqual({ 'max-rows': '5' });
  });

  it('takes both spellings of a key together', () => {
    const schema = { properties: { a_b: { type: 'array', items: { type: 'integer' } } } };
    expect(coerceArguments(schema, { 'a-b': ['1'], a_b: ['2'] }).arguments).toEqual({ a_b: [1, 2] });
  });

  it('finds properties in parts and references of the schema, and in additionalProperties', () => {
    const schema = {
      $defs: { paging: { properties: { rows: { type: 'integer' } } } },
      allOf: [{ $ref: '#/$defs/paging' }, { properties: { dry: { type: 'boolean' } } }],
      additionalProperties: { type: 'number' },
    };
    const given = { rows: ['5'], dry: ['true'], other: ['0.5'] } satisfies Record<string, Words>;
    expect(coerceArguments(schema, given).arguments).toEqual({ rows: 5, dry: true, other: 0.5 });
  });

  it('does no harm with names of the language', () => {
    const given = JSON.parse('{"__proto__": ["x"], "constructor": ["y"], "toString": ["z"]}');
    const { arguments: values, problems } = coerceArguments({ properties: {} }, given);
    expect(problems).toEqual([]);
    expect(JSON.stringify(values)).toBe('{"__proto__":"x","constructor":"y","toString":"z"}');
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  });

  it('ends on schemas that refer to themselves, and on unheard-of keywords', () => {
    const self = { $ref: '#', anyOf: [{ $ref: '#' }, { $ref: '#' }], properties: { x: { $ref: '#' } } };
    expect(coerceArguments(self, { x: ['1'], y: ['2'] }).arguments).toEqual({ x: '1', y: '2' });
    const odd = { properties: { x: { $ref: 7, type: 'strange', enum: 5, items: null, allOf: {} } } };
    expect(coerceArguments(odd as never, { x: ['1'] }).arguments).toEqual({ x: '1' });
  });
});

describe('what coerceArguments reads', () => {
  const scalar = fc.oneof(
    fc.record({ schema: fc.constant({ type: 'integer' }), value: fc.maxSafeInteger() }),
    fc.record({ schema: fc.constant({ type: 'boolean' }), value: fc.boolean() }),
    fc.record({ schema: fc.constant({ type: 'string' }), value: fc.string() }),
    fc.record({
      schema: fc.constant({ type: 'number' }),
      value: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
    }),
    fc.record({ schema: fc.constant({ type: 'object' }), value: fc.dictionary(fc.string(), fc.integer()) }),
  );
  const word = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

  it('is what was written, by every type', () => {
    fc.assert(
      fc.property(scalar, ({ schema, value }) => {
        const back = read(schema, [word(value)]);
        // Whole numbers over 2^53 are refused rather than rounded.
        if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return;
        expect(JSON.stringify(back)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('is the list that was written, word by word or as JSON', () => {
    const list = { type: 'array', items: { type: 'string' } };
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 2 }), (values) => {
        expect(read(list, values)).toEqual(values);
        expect(read(list, [JSON.stringify(values)])).toEqual(values);
      }),
    );
  });

  it('never is anything but JSON, whatever the schema and the words', () => {
    const words = fc.array(fc.oneof(fc.string(), fc.constant(true as const)), { maxLength: 3 });
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), words), (schema, given) => {
        const object = typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? schema : {};
        const { arguments: values } = coerceArguments(object as JsonObject, given);
        expect(JSON.parse(JSON.stringify(values))).toEqual(values);
      }),
    );
  });
});
