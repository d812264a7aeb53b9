import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf, idFrom, sha256 } from '../../../src/core/digest.js';

describe('digests', () => {
  it('are SHA-256 in lowercase hexadecimal', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256(new TextEncoder().encode('é'))).toBe(sha256('é'));
  });

  it('do not depend on the order of keys, and do on the order of lists', () => {
    expect(digestOf({ a: 1, b: { c: [1, 2], d: null } })).toBe(digestOf({ b: { d: null, c: [1, 2] }, a: 1 }));
    expect(digestOf([1, 2])).not.toBe(digestOf([2, 1]));
  });
});

describe('idFrom', () => {
  it('stays what it is over releases', () => {
    expect(idFrom('evaluation', 'batch', 'scenario', 'run')).toBe('V20B6V1VXV73S34QHWKTTV3TYB');
  });

  it('gives the same 26 characters of the ULID alphabet for the same parts', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (parts) => {
        expect(idFrom(...parts)).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
        expect(idFrom(...parts)).toBe(idFrom(...parts));
      }),
    );
  });

  it('tells apart where one part ends and the next begins', () => {
    expect(idFrom('ab', 'c')).not.toBe(idFrom('a', 'bc'));
  });
});
