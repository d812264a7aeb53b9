import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteLines } from '../../../src/inputs/byte-lines.js';

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function all(lines: ByteLines) {
  const found = [];
  for (let line = await lines.next(); line !== undefined; line = await lines.next()) found.push(line);
  return found;
}

describe('ByteLines', () => {
  it('splits at LF and CRLF, not at U+2028, and says whether the last line ended', async () => {
    const lines = await all(new ByteLines(stream([Buffer.from('a\r\n\nb\u2028c\nd')]), 100));
    expect(lines.map(({ number, bytes, ended }) => [number, bytes.toString(), ended])).toEqual([
      [1, 'a', true],
      [2, '', true],
      [3, 'b\u2028c', true],
      [4, 'd', false],
    ]);
  });

  it('gives the same lines however the bytes are cut into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom(10, 13, 97, 0xe2, 0x80, 0xa8), { maxLength: 8 }), { maxLength: 8 }),
        async (chunks) => {
          const cut = await all(new ByteLines(stream(chunks.map((chunk) => Uint8Array.from(chunk))), 1000));
          const whole = await all(new ByteLines(stream([Uint8Array.from(chunks.flat())]), 1000));
          expect(cut.map((line) => [...line.bytes])).toEqual(whole.map((line) => [...line.bytes]));
        },
      ),
    );
  });

  it('stops at a line longer than its limit instead of holding it', async () => {
    const lines = await all(
      new ByteLines(stream([Buffer.from('ok\n'), Buffer.alloc(8, 97), Buffer.from('\nx\n')]), 5),
    );
    expect(lines.map(({ tooLong }) => tooLong)).toEqual([false, true]);
  });

  it('hands over what no line has taken', async () => {
    const lines = new ByteLines(stream([Buffer.from('a\nb'), Buffer.from('c\nd')]), 100);
    await lines.next();
    const rest: Buffer[] = [];
    for await (const chunk of lines.rest()) rest.push(chunk);
    expect(Buffer.concat(rest).toString()).toBe('bc\nd');
  });
});
