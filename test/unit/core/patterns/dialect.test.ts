import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../../src/core/patterns/compile.js';
import { checkPattern } from '../../../../src/core/patterns/dialect.js';

describe('checkPattern', () => {
  it.each([
    ['systemctl.*(restart|reload|start).*nginx'],
    ['\\bfoo\\b\\z'],
    ['(?P<name>a)(?<other>b)'],
    ['(?i)a(?-i:B)(?s:.)'],
    ['[[:alpha:]]\\pL\\p{Greek}\\x{4e00}'],
    ['\\Qa+b\\E'],
    ['a{1000}'],
    ['a{,3} {} {x} ]'],
    ['\\12'],
    ['(?=a)(?!b)(?<=c)(?<!d)'],
    ['(\\w+) \\1'],
    ['(?P<n>a)(?P=n)\\k<n>'],
    [''],
  ])('accepts %s', (pattern) => {
    expect(checkPattern(pattern)).toEqual({ ok: true });
  });

  it.each([
    ['foo\\Z', '\\z'],
    ['\\u4e00', '\\x{4e00}'],
    ['[\\u4e00-\\u9fff]', '\\x{4e00}'],
    ['\\u{1F600}', '\\x{1F600}'],
    ['\\U0001F600', '\\x{1F600}'],
    ['\\cJ', '\\x0a'],
    ['\\e[0m', '\\x1b'],
    ['[\\b]', '\\x08'],
    ['\\h+', '[\\t ]'],
    ['a*+b', 'a*'],
    ['[a-z]++', '[a-z]+'],
    ['(?>a|b)', '(?:'],
    ["(?'year'\\d+)", '(?P<year>'],
    ['a{1001}', 'a{1000}a{1}'],
    ['\\d{2500,}', '\\d{1000}\\d{1000}\\d{500,}'],
    ['x{5,1500}', 'x{5,1000}x{0,500}'],
    ['[[:alhpa:]]', '[:alpha:]'],
    ['\\p{Script=Greek}', '\\p{Greek}'],
    ['\\p{Letter}', '\\p{L}'],
    ['(?=x)\\Z', '\\z'],
  ])('refuses %s and proposes %s', (pattern, proposal) => {
    expect(checkPattern(pattern)).toMatchObject({ ok: false, proposal });
  });

  it.each([
    ['(', /never closed/],
    ['a)', /unexpected \)/],
    ['[a', /never closed/],
    ['*a', /nothing to repeat/],
    ['a**', /follows another/],
    ['a{3,2}', /wrong way round/],
    ['a\\', /lone backslash/],
    ['\\y', /not an escape/],
    ['[z-a]', /range/],
    ['(?<=a', /never closed/],
    ['a\\1', /no group 1/],
    ['(a)\\k<b>', /no group b/],
    ['(?-i:(a))\\1', /ignores case/],
    ['(?P<n>a)(?P<n>b)', /two groups/],
    ['(?R)', /recursion/],
    ['(?x)a', /flags are/],
    ['(?=\\p{Nonsense})', /range/],
    ['\\x{110000}', /last code point/],
  ])('refuses %s with the reason', (pattern, message) => {
    const checked = checkPattern(pattern);
    expect(checked.ok).toBe(false);
    expect(checked).toHaveProperty('message', expect.stringMatching(message));
  });

  it('proposes spellings that it accepts itself', () => {
    for (const [pattern, expected] of [
      ['\\u4e00', '一'],
      ['x{1001}', 'x'.repeat(1001)],
      ['\\cJ', '\n'],
    ] as const) {
      const checked = checkPattern(pattern);
      const proposal = checked.ok ? '' : (checked.proposal ?? '');
      expect(compilePattern(proposal).searchRe2(expected)).toEqual({ start: 0, end: expected.length });
    }
  });

  it.each([
    ['nested repeats', '((a{1000}){1000})'],
    ['many repeats', 'a{1000}b'.repeat(1000)],
    ['nested optional repeats', '((a?){30}){30}'.repeat(600)],
    ['repeats under a lookahead', '(?=x)((a{1000}){1000}){1000}'],
    ['wide folded ranges', '[\\x{42}-\\x{1E942}]'.repeat(500)],
    ['Unicode classes', '\\pL'.repeat(3000)],
    ['deep groups', `${'('.repeat(4000)}a${')'.repeat(4000)}`],
    ['length', 'a'.repeat(10_001)],
  ])('refuses in little time what would be expensive: %s', (_name, pattern) => {
    const started = performance.now();
    expect(checkPattern(pattern).ok).toBe(false);
    expect(performance.now() - started).toBeLessThan(500);
  });
});

describe('compilePattern', () => {
  it.each([
    ['systemctl.*(restart|reload|start).*nginx', 'native'],
    ['(?i)\\berror\\b: [^"]+ (?:a|b){2,3}?$', 'native'],
    ['^\\s*$', 're2'],
    ['(a*)+b', 're2'],
    ['\\pL+', 're2'],
    ['[\\x{d800}]x', 're2'],
    ['(?=a)b', 'backtracking'],
    ['(a)\\1', 'backtracking'],
  ])('sends %s to %s', (pattern, engine) => {
    expect(compilePattern(pattern).engine).toBe(engine);
  });

  it.each([
    ['(?<=^|\\n)FOO(?!bar)', 'x\nfoobaz', { start: 2, end: 5 }],
    ['(?!x)\\s', '\u00a0 ', { start: 1, end: 2 }],
    ['(?=.)\\bſ', 'ſ s', { start: 2, end: 3 }],
    ['(\\w+) \\1', 'ab Foo fOO', { start: 3, end: 10 }],
    ['(?<=a).(?=b)', 'a\u{1f600}b', { start: 1, end: 3 }],
    ['(?!^)(?!a)', '\u{1f600}', { start: 2, end: 2 }],
    ['(?-i:K)(?=x)', 'kxKx', { start: 2, end: 3 }],
    ['(?<!a)$(?!\\n)', 'a', undefined],
  ])('keeps RE2’s meaning of %s under backtracking', (pattern, text, span) => {
    expect(compilePattern(pattern).searchNative(text)).toEqual(span);
  });

  it('throws for what the dialect refuses, the second time as well', () => {
    expect(() => compilePattern('a\\Z')).toThrow(/not part of RE2/);
    expect(() => compilePattern('a\\Z')).toThrow(/not part of RE2/);
  });
});
