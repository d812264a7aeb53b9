import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../../src/core/patterns/compile.js';

const everything = Array.from({ length: 0x11000 }, (_, at) => String.fromCodePoint(at))
  .filter((char) => char < '\ud800' || char > '\udfff')
  .join('\n');

function all(pattern: string, search: 'searchNative' | 'searchRe2'): string[] {
  const compiled = compilePattern(pattern);
  const found: string[] = [];
  for (let rest = everything; ; ) {
    const span = compiled[search](rest);
    if (span === undefined) return found;
    found.push(rest.slice(span.start, span.end));
    rest = rest.slice(span.end);
  }
}

describe('case folding in native patterns', () => {
  it.each([
    ['k', ['K', 'k', '\u212a']],
    ['S', ['S', 's', '\u017f']],
    ['i', ['I', 'i']],
    ['ß', ['ß', 'ẞ']],
    ['σ', ['Σ', 'ς', 'σ']],
    ['µ', ['µ', 'Μ', 'μ']],
    ['θ', ['Θ', 'θ', 'ϑ', 'ϴ']],
    ['İ', ['İ']],
    ['ı', ['ı']],
    ['(?-i:k)', ['k']],
  ])('takes %s for exactly %j, as RE2 does', (pattern, expected) => {
    expect(compilePattern(pattern).engine).toBe('native');
    expect(all(pattern, 'searchNative')).toEqual(expected);
    expect(all(pattern, 'searchRe2')).toEqual(expected);
  });

  it.each(['[[:punct:]]', '\\s', '[^\\x{0}-\\x{2126}\\x{212c}-\\x{10ffff}]', '[a-f]', '\\bK\\b'])(
    'finds the same code points with %s in either engine',
    (pattern) => {
      expect(compilePattern(pattern).engine).toBe('native');
      const found = all(pattern, 'searchNative');
      expect(found.length).toBeGreaterThan(0);
      expect(found).toEqual(all(pattern, 'searchRe2'));
    },
  );
});
