/** Most bytes of a stream that go into a result. */
const MOST_BYTES = 8 * 1024;
/** Longest line that is quoted, in UTF-16 units. */
const MOST_LINE = 200;

/** What steers a terminal: colours and cursor movements, and other control characters. */
const STEERING =
  /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u0000-\u001f\u007f]/g;

/** The last 8 KiB of a text in UTF-8, from a whole character on. */
export function tailOf(text: string): { text: string; cut: boolean } {
  // No character is more than three bytes for each of its units.
  const near = text.slice(-MOST_BYTES);
  const bytes = new TextEncoder().encode(near);
  let from = Math.max(0, bytes.length - MOST_BYTES);
  if (from === 0 && near.length === text.length) return { text, cut: false };
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  const kept = new TextDecoder().decode(bytes.subarray(from));
  return { text: near.length < text.length ? kept.replace(/^\ufffd/, '') : kept, cut: true };
}

/** The last line with a letter or a digit, of the first of the streams that has one. */
export function lastTellingLine(...streams: string[]): string | undefined {
  for (const stream of streams) {
    const lines = tailOf(stream).text.split(/\r\n|\r|\n/);
    const line = lines
      .map((each) => each.replace(STEERING, '').trim())
      .findLast((each) => /[\p{L}\p{N}]/u.test(each));
    if (line !== undefined) return line.length > MOST_LINE ? `${line.slice(0, MOST_LINE)}…` : line;
  }
  return undefined;
}
