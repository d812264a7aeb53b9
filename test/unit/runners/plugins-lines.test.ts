import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Lines } from '../../../src/runners/plugins/lines.js';

function read(chunks: Buffer[], most = 1_000) {
  const seen: string[] = [];
  const lines = new Lines(
    most,
    (line) => seen.push(line),
    () => seen.push('too long'),
  );
  for (const chunk of chunks) lines.push(chunk);
  return seen;
}

it('reads the same lines however the bytes arrive', () => {
  const text = fc.array(fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll('\n', '')));
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 200 })), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, n) => bytes.subarray(places[n], end));
      expect(read(chunks)).toEqual(lines);
    }),
  );
});

it.each([
  ['ends in time', ['12345\n', 'a\n'], ['12345', 'a']],
  ['is too long in one piece', ['123456\na\n'], ['too long']],
  ['is too long in pieces', ['123', '456', '7\na\n'], ['too long']],
])('reads no more after a line that %s', (_what, chunks, expected) => {
  expect(
    read(
      chunks.map((each) => Buffer.from(each)),
      5,
    ),
  ).toEqual(expected);
});
