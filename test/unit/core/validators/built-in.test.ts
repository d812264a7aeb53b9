import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../../../src/core/scenario/model.js';
import { builtInValidators, findValidator } from '../../../../src/core/validators/built-in.js';

const FOLDER = new URL('../../../../src/core/validators/', import.meta.url);

describe('builtInValidators', () => {
  it('has a line for every file that defines a validator', () => {
    const defined = readdirSync(FOLDER)
      .filter((name) => name !== 'validator.ts' && name !== 'built-in.ts')
      .filter((name) => readFileSync(new URL(name, FOLDER), 'utf8').includes(': Validator<'))
      .map((name) => name.replace('.ts', '').replaceAll('-', '_'));
    expect([...builtInValidators.keys()].sort()).toEqual(defined.sort());
  });

  it.each([...builtInValidators.values()].map((each) => [each.name, each] as const))(
    '%s describes itself and its fields, and names fields that exist',
    (name, validator) => {
      expect(findValidator(name)).toBe(validator);
      expect(validator.description).toMatch(/\S/);
      expect(validator.scopes.every((scope) => SCOPES.includes(scope))).toBe(true);
      const fields = Object.entries(validator.params.shape);
      for (const [, schema] of fields) expect((schema as { description?: string }).description).toMatch(/\S/);
      for (const field of validator.fileFields ?? []) expect(fields.map(([key]) => key)).toContain(field);
    },
  );

  it('finds nothing under other names', () => {
    for (const name of ['', 'nope', 'constructor', '__proto__']) expect(findValidator(name)).toBeUndefined();
  });
});
