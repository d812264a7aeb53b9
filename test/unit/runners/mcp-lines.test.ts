import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineBuffer } from '../../../src/runners/mcp/lines.js';

/** The bytes in pieces that end at these places. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, n) => bytes.subarray(at[n], end));
}

describe('lines', () => {
  it('are the same however the bytes come', () => {
    const line = fc.string({ unit: 'binary' }).filter((text) => !/[\r\n]/.test(text));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
        const buffer = new LineBuffer(10_000);
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        const wellFormed = lines.map((each) => Buffer.from(each).toString('utf8'));
        expect(pieces(bytes, cuts).flatMap((piece) => buffer.push(piece))).toEqual(wellFormed);
      }),
    );
  });

  it('may end in CR LF', () => {
    expect(new LineBuffer(9).push(Buffer.from('a\r\nb\r\n'))).toEqual(['a', 'b']);
  });

  it.each([
    ['in one piece', ['123456\n']],
    ['in several', ['12', '34', '56']],
    ['behind others', ['1\n2\n123456']],
  ])('that are too long are refused: %s', (_what, parts) => {
    const buffer = new LineBuffer(5);
    expect(parts.map((part) => buffer.push(Buffer.from(part))).at(-1)).toBeUndefined();
  });

  it('that are just short enough are taken', () => {
    const buffer = new LineBuffer(5);
    expect([buffer.push(Buffer.from('123')), buffer.push(Buffer.from('45\n1'))]).toEqual([[], ['12345']]);
  });
});
