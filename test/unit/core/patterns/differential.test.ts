import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../../src/core/patterns/compile.js';
import { checkPattern } from '../../../../src/core/patterns/dialect.js';
import { compileRe2, type Re2 } from '../../../../src/core/patterns/re2.js';
import { consumingPattern, hardText, pattern } from './arbitrary.js';

const RUNS = Number(process.env.PATTERN_RUNS ?? 1000);
const LONG = { timeout: 120_000 };

function reference(program: Re2, text: string) {
  const matcher = program.matcher(text);
  return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined;
}

/** Texts made of the pattern's own letters, which it is likely to match. */
function likelyTexts(source: string, around: string): string[] {
  const letters = source.replace(
    /\\x\{?[0-9a-f]*\}?|\(\?[^:>)]*[:>)]|\{\d.*?\}|\\[a-zA-Z]|[()[\]\\?*+|^$.]/gi,
    '',
  );
  return [letters, around + letters.toUpperCase() + around];
}

function programOf(source: string): Re2 | undefined {
  try {
    return compileRe2(source);
  } catch {
    return undefined;
  }
}

function acceptedByRe2(source: string): boolean {
  return programOf(source) !== undefined;
}

describe('the native engine beside RE2', () => {
  it('finds the same match wherever it is used, and is used often', LONG, () => {
    let natives = 0;
    let hits = 0;
    fc.assert(
      fc.property(
        fc.oneof(pattern, consumingPattern),
        fc.array(hardText, { minLength: 1, maxLength: 4 }),
        (source, texts) => {
          const program = programOf(source);
          if (program === undefined) return;
          const compiled = compilePattern(source);
          if (compiled.engine !== 'native') return;
          natives += 1;
          for (const text of [...texts, ...likelyTexts(source, texts[0] ?? '')]) {
            const found = compiled.searchNative(text);
            if (found !== undefined) hits += 1;
            expect(found).toEqual(reference(program, text));
            expect(compiled.searchRe2(text)).toEqual(found);
          }
        },
      ),
      { numRuns: RUNS },
    );
    expect(natives).toBeGreaterThan(RUNS / 10);
    expect(hits).toBeGreaterThan(RUNS / 10);
  });

  it('is offered exactly the patterns that RE2 accepts', LONG, () => {
    fc.assert(
      fc.property(pattern, (source) => {
        expect(checkPattern(source).ok).toBe(acceptedByRe2(source));
      }),
      { numRuns: RUNS / 2 },
    );
  });
});

describe('the dialect on arbitrary input', () => {
  const noise = fc.array(
    fc.constantFrom(...'ab(?<>=!P:)[]^-\\{}0129,+*|.$kpzQEx_\n', '(?', '[:', ':]', '\ud83d', 'é'),
    {
      maxLength: 12,
    },
  );

  it('accepts what RE2 accepts and never throws', LONG, () => {
    fc.assert(
      fc.property(noise, (parts) => {
        const source = parts.join('');
        const checked = checkPattern(source);
        if (acceptedByRe2(source)) expect(checked).toEqual({ ok: true });
        else if (checked.ok) expect(compilePattern(source).engine).toBe('backtracking');
      }),
      { numRuns: RUNS },
    );
  });
});
