import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/core/digest.js';
import { snapshotProblem } from '../../../src/core/snapshot.js';

class Point {
  x = 1;
}

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe('a snapshot', () => {
  it.each([
    ['a date', { d: new Date(1) }, 'd', /class Date/],
    ['a map', { a: [new Map()] }, 'a[0]', /class Map/],
    ['an instance', { p: new Point() }, 'p', /class Point/],
    ['a function', { f() {} }, 'f', /function/],
    ['nothing in a list', [undefined], '[0]', /undefined/],
    ['a bigint', { n: 1n }, 'n', /bigint/],
    ['NaN', { n: Number.NaN }, 'n', /finite/],
    ['a number too large for one', JSON.parse('{"n":1e400}'), 'n', /finite/],
    ['a whole number beyond 2^53', JSON.parse('{"n":9007199254740993}'), 'n', /2\^53/],
    ['itself', cyclic, expect.any(String), /nested/],
  ])('with %s is refused, with the path', (_what, value, path, message) => {
    expect(snapshotProblem(value)).toMatchObject({ path, message: expect.stringMatching(message) });
  });

  it('may be any other JSON', () => {
    const values = [
      null,
      true,
      '',
      'é',
      '\ud800',
      0.1,
      -1,
      2 ** 53 - 1,
      [],
      {},
      { a: { b: [1, null] }, c: undefined },
    ];
    for (const value of values) expect(snapshotProblem(value)).toBeUndefined();
    expect(snapshotProblem(Object.assign(Object.create(null), { a: 1 }))).toBeUndefined();
  });

  it('that is accepted has the digest of no other that is', () => {
    const value = fc.oneof(
      fc.json().map((text) => JSON.parse(text) as unknown),
      fc.anything(),
    );
    fc.assert(
      fc.property(value, value, (a, b) => {
        if (snapshotProblem(a) !== undefined || snapshotProblem(b) !== undefined) return;
        if (digestOf(a) !== digestOf(b)) return;
        expect(JSON.parse(JSON.stringify(a) ?? 'null')).toEqual(JSON.parse(JSON.stringify(b) ?? 'null'));
      }),
    );
  });
});
