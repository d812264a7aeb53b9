import { describe, expect, it } from 'vitest';
import { argumentNames, takesArgument } from '../../../../src/core/registry/argument-names.js';
import type { JsonObject } from '../../../../src/core/registry/model.js';

const properties = { max: {}, min: {}, fixed: false };

describe('the names of arguments', () => {
  it.each<[JsonObject, string[] | undefined]>([
    [{ type: 'object' }, undefined],
    [{ type: 'object', additionalProperties: false }, []],
    [{ properties }, ['max', 'min']],
    [{ $ref: '#/$defs/a', $defs: { a: { anyOf: [{ properties }] } } }, ['max', 'min']],
    [{ patternProperties: { '^x': {} }, additionalProperties: false }, undefined],
  ])('of %j are %j', (schema, names) => {
    expect(argumentNames(schema)).toEqual(names);
  });

  it.each<[JsonObject, string, boolean]>([
    [{ properties }, 'max', true],
    [{ properties }, 'other', false],
    [{ properties }, 'fixed', false],
    [{ properties, additionalProperties: true }, 'other', true],
    [{ properties, additionalProperties: { type: 'integer' } }, 'fixed', false],
    [{ type: 'object' }, 'other', true],
    [{ properties: { fixed: false } }, 'fixed', false],
    [{ type: 'object', additionalProperties: false }, 'other', false],
    [{ patternProperties: { '^x': {} }, additionalProperties: false }, 'xy', true],
    [{ patternProperties: { '^x': {} } }, 'other', false],
    [{ allOf: [{ properties }], unevaluatedProperties: false }, 'min', true],
    [{ type: 'object' }, 'constructor', true],
    [{ properties }, 'constructor', false],
  ])('in %j: %s is one: %s', (schema, name, expected) => {
    expect(takesArgument(schema, name)).toBe(expected);
  });
});
