import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAttribute, encodeAttribute, isCloudEvent } from '../../../src/core/http-binding.js';

describe('an attribute in a header', () => {
  it.each([
    ['plain', 'plain'],
    ['/sluice/prod?x=1#y', '/sluice/prod?x=1#y'],
    // The example of the specification: Euro € 😀
    ['Euro € 😀', 'Euro%20%E2%82%AC%20%F0%9F%98%80'],
    ['100 % "sure"', '100%20%25%20%22sure%22'],
    ['a\r\nb: c', 'a%0D%0Ab:%20c'],
    ['', ''],
  ])('%j is encoded as %s and comes back', (value, header) => {
    expect(encodeAttribute(value)).toBe(header);
    expect(decodeAttribute(header)).toBe(value);
  });

  it.each([
    ['"quoted \\"text\\""', 'quoted "text"'],
    ['a%2', 'a%2'],
    ['%zz', '%zz'],
    ['%FF', '\ufffd'],
    ['%e2%82%ac', '€'],
  ])('%s, as others write it, is read as %j', (header, value) => {
    expect(decodeAttribute(header)).toBe(value);
  });

  it('is printable ASCII and comes back, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const header = encodeAttribute(value);
        expect(header).toMatch(/^[\x21-\x7e]*$/);
        expect(decodeAttribute(header)).toBe(value);
      }),
    );
  });
});

describe('isCloudEvent', () => {
  const event = { specversion: '1.0', id: '1', source: '/a', type: 't' };
  it.each([
    [event, true],
    [{ ...event, data: null }, true],
    [{ ...event, specversion: '0.3' }, false],
    [{ ...event, id: '' }, false],
    [{ ...event, type: 7 }, false],
    [[event], false],
    [null, false],
    ['text', false],
  ])('%j: %s', (value, expected) => {
    expect(isCloudEvent(value)).toBe(expected);
  });
});
