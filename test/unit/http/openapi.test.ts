import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import type { HttpDeps } from '../../../src/http/deps.js';
import { openApi } from '../../../src/http/openapi.js';
import { createOperations } from '../../../src/http/operations/built-in.js';

const operations = createOperations({} as HttpDeps);
const document = openApi(operations);

/** Every reference of a document, wherever it stands. */
function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('is the same whenever it is made, and plain JSON', () => {
    expect(openApi(createOperations({} as HttpDeps))).toEqual(document);
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('refers to nothing that is not there', () => {
    for (const reference of referencesIn(document)) {
      const [, ...path] = reference.split('/');
      const found = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document);
      expect(found, reference).toBeDefined();
    }
  });

  it('names every operation once, with a summary, a tag and a description of each parameter', () => {
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const paths = document.paths as Record<string, Record<string, Record<string, unknown>>>;
    const told = Object.values(paths).flatMap((item) => Object.values(item));
    expect(told.map(({ operationId }) => operationId).sort()).toEqual([...ids].sort());
    for (const operation of told) {
      expect(operation.summary, String(operation.operationId)).toMatch(/\w/);
      for (const parameter of (operation.parameters ?? []) as Record<string, unknown>[])
        if (parameter.$ref === undefined)
          expect(parameter.description, `${operation.operationId} ${parameter.name}`).toMatch(/\w/);
    }
  });

  it('has an example for every operation with parameters in its path or a body', () => {
    for (const { id, path, body, example } of operations) {
      for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g))
        expect(example?.params?.[name], id).toBeDefined();
      if (body !== undefined && !body.schema.safeParse(undefined).success)
        expect(example?.body, id).toBeDefined();
    }
  });

  it('says which role each operation needs, and that the others need no token', () => {
    const paths = document.paths as Record<string, Record<string, Record<string, unknown>>>;
    for (const { path, method, role, id } of operations) {
      const told = paths[path]?.[method.toLowerCase()];
      if (role === null) expect(told?.security, id).toEqual([]);
      else expect(told?.['x-role'], id).toBe(role);
    }
  });
});
