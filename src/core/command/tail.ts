/** Most bytes of a stream that go into a result. */
const MOST_BYTES = 8 * 1024;
/** Longest line that is quoted, in UTF-16 units. */
const MOST_LINE = 200;

/** What steers a terminal: colours and cursor movements, and other control characters. */
const STEERING =
  /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u0000-\u001f\u007f]/g;

/** How far back a line that tells a failure is looked for, in bytes. */
const MOST_SEARCHED = 64 * 1024;

/** Names a test that failed: TAP, node --test, jest and vitest, pytest, unittest, go. */
const FAILED_TEST =
  /^(?:not ok\b(?!.*# (?:TODO|SKIP))|[✖✗✘×] .*[^:]$|● (?!Console$)|(?:--- )?FAIL(?:ED)?:?\s+[^\s(])/;

/** Tells that something failed, and not that nothing did; `error: |` is where YAML goes on in the next line. */
const FAILURE =
  /(?<!\b(?:0|no) )\b(?:[Ff]ail(?:ed|ure)|FAIL(?:ED|URE))\b(?![:=] ?0\b)|\bFAIL\b|[Ee]rror:(?! ?[|>])|\bERROR\b|\berror TS\d|(?:^|\s)AssertionError(?: \[|$)/;

/** The last `most` bytes of a text in UTF-8, from a whole character on. */
export function tailOf(text: string, most = MOST_BYTES): { text: string; cut: boolean } {
  // No character is more than three bytes for each of its units.
  const near = text.slice(-most);
  const bytes = new TextEncoder().encode(near);
  let from = Math.max(0, bytes.length - most);
  if (from === 0 && near.length === text.length) return { text, cut: false };
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  const kept = new TextDecoder().decode(bytes.subarray(from));
  return { text: near.length < text.length ? kept.replace(/^\ufffd/, '') : kept, cut: true };
}

/** Lines with a letter or a digit, without what steers a terminal. */
function tellingLines(stream: string, most: number): string[] {
  return tailOf(stream, most)
    .text.split(/\r\n|\r|\n/)
    .map((each) => each.replace(STEERING, '').trim())
    .filter((each) => /[\p{L}\p{N}]/u.test(each));
}

function quoted(line: string | undefined): string | undefined {
  return line !== undefined && line.length > MOST_LINE ? `${line.slice(0, MOST_LINE)}…` : line;
}

/** The last line with a letter or a digit, of the first of the streams that has one. */
export function lastTellingLine(...streams: string[]): string | undefined {
  for (const stream of streams) {
    const line = tellingLines(stream, MOST_BYTES).at(-1);
    if (line !== undefined) return quoted(line);
  }
  return undefined;
}

/**
 * The line of a command that failed which says most of it: the last one of any stream that names a test
 * that failed, else of the first stream that says anything the last one that tells a failure, else its last.
 */
export function lastFailure(...streams: string[]): string | undefined {
  const said = streams.map((stream) => tellingLines(stream, MOST_SEARCHED));
  const named = said.map((lines) => lines.findLast((line) => FAILED_TEST.test(line)));
  const first = said.find((lines) => lines.length > 0) ?? [];
  return quoted(
    named.find((line) => line !== undefined) ?? first.findLast((line) => FAILURE.test(line)) ?? first.at(-1),
  );
}
