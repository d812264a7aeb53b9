import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeIn, pointed, stepsOf, waitsFor } from '../../../../src/core/registry/graph-pointer.js';

const VALUE = JSON.parse(
  '{"a":{"b":[10,{"c/d":1,"e~f":2}],"":3},"n":null,"t":"text","0":"zero","__proto__":{"x":1}}',
);

describe('a JSON pointer', () => {
  it.each<[string, unknown]>([
    ['', VALUE],
    ['/a/b/0', 10],
    ['/a/b/1/c~1d', 1],
    ['/a/b/1/e~0f', 2],
    ['/a/', 3],
    ['/n', null],
    ['/0', 'zero'],
    ['/__proto__/x', 1],
  ])('%s finds what stands there', (pointer, value) => {
    expect(pointed(VALUE, pointer)).toEqual({ value });
  });

  it.each([
    ...['/a/b/2', '/a/b/-', '/a/b/00', '/a/b/ 0', '/a/b/1.0', '/a/b/length', '/n/x', '/t/0', '/t/length'],
    ...['/toString', '/a/constructor', '/a/__proto__', 'a', '/a/~', '/a/b/1/e~2f', 'a/b', '#/a'],
  ])('%s finds nothing', (pointer) => {
    expect(pointed(VALUE, pointer)).toBeUndefined();
  });

  it('finds every key by its escaped name', () => {
    const key = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'a') }));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 5 }), fc.jsonValue(), (keys, value) => {
        const whole = keys.reduceRight<unknown>((inner, each) => Object.fromEntries([[each, inner]]), value);
        const pointer = keys.map((each) => `/${each.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
        expect(stepsOf(pointer)).toEqual(keys);
        expect(pointed(whole, pointer)).toEqual({ value });
      }),
    );
  });

  it('never finds what a value does not hold itself', () => {
    const inherited = fc.constantFrom('toString', 'constructor', '__proto__', 'length', '0', '-1', '');
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(inherited, { minLength: 1 }), (value, steps) => {
        const found = pointed(value, `/${steps.join('/')}`);
        if (found === undefined) return;
        expect(JSON.stringify(value)).toContain(JSON.stringify(found.value));
      }),
    );
  });

  it('into the output of a node is what its node waits for, and so is all that is in between', () => {
    const node = {
      id: 'n',
      tool: 'local/t',
      arguments: { a: { from: '/nodes/x/data' }, b: { from: '/args/nodes' }, c: { value: '/nodes/v' } },
      subject: { from: '/nodes/y' },
      needs: ['z', 'x'],
    };
    expect(waitsFor(node)).toEqual(['z', 'x', 'y']);
    expect([nodeIn({ from: '/nodes/x' }), nodeIn({ from: '/subject' }), nodeIn({ value: 1 })]).toEqual([
      'x',
      undefined,
      undefined,
    ]);
  });
});
