import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseResource, resourceProblem } from '../../../../src/core/attachments/resource.js';

describe('parseResource', () => {
  it.each([
    ['repo/api', { type: 'repo', name: 'api' }],
    ['api', { type: null, name: 'api' }],
    ['repo/org/api', { type: 'repo', name: 'org/api' }],
    ['db/Orders_2024.v1@eu:5432', { type: 'db', name: 'Orders_2024.v1@eu:5432' }],
    ['7', { type: null, name: '7' }],
  ])('takes %s apart', (text, expected) => {
    expect(parseResource(text)).toEqual(expected);
    expect(resourceProblem(text)).toBeUndefined();
  });

  it.each([
    ['', /has a name/],
    ['/api', /type\/name/],
    ['repo/', /type\/name/],
    ['repo//api', /type\/name/],
    ['-repo/api', /type\/name/],
    ['repo/../etc', /type\/name/],
    ['repo/a b', /type\/name/],
    ['repo/api\n', /type\/name/],
    ['répo/api', /type\/name/],
    [`repo/${'a'.repeat(252)}`, /at most 256/],
  ])('refuses %j', (text, message) => {
    expect(parseResource(text)).toBeUndefined();
    expect(resourceProblem(text)).toMatch(message);
  });

  it('has a problem exactly where it reads nothing, and loses nothing of what it reads', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'Z', '9', '/', '.', '-', ' ', '@') }), (text) => {
        const parsed = parseResource(text);
        expect(parsed === undefined).toBe(resourceProblem(text) !== undefined);
        if (parsed === undefined) return;
        expect(parsed.type === null ? parsed.name : `${parsed.type}/${parsed.name}`).toBe(text);
      }),
    );
  });
});
