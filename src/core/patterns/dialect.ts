import { type Node, type Parsed, PatternError, programSize } from './ast.js';
import { parsePattern } from './parse.js';
import { compileRe2, type Re2 } from './re2.js';
import { nativeSource } from './translate.js';

/** Longest pattern, in UTF-16 units. */
export const MAX_PATTERN_LENGTH = 10_000;
/** Largest program, in instructions after counted repeats are unrolled; compiles in about 0.1 s. */
const MAX_PROGRAM = 20_000;
/** Largest sum of what the sets cost to build, in units of very roughly a millisecond. */
const MAX_SET_COST = 200;

/** A pattern that the dialect accepts, and how it can be run. */
export type Analysis =
  | { parsed: Parsed; engine: 're2'; program: Re2 }
  | { parsed: Parsed; engine: 'backtracking'; regexp: RegExp };

/**
 * Whether the dialect (DESIGN 3.2.5) accepts a pattern: RE2's syntax, case-insensitive, `^` and `$` at
 * lines, plus lookaround and backreferences. `proposal` is RE2's spelling of the part that it refuses,
 * where it has one. Never throws, and never takes long: what would be expensive to compile is refused.
 */
export function checkPattern(
  pattern: string,
): { ok: true } | { ok: false; message: string; proposal?: string } {
  try {
    analyse(pattern);
    return { ok: true };
  } catch (error) {
    const { message, proposal } = asPatternError(error);
    return proposal === undefined ? { ok: false, message } : { ok: false, message, proposal };
  }
}

/** As `checkPattern`, with what a matcher needs. Throws PatternError. */
export function analyse(pattern: string): Analysis {
  try {
    return analyseOrThrow(pattern);
  } catch (error) {
    throw asPatternError(error);
  }
}

function analyseOrThrow(pattern: string): Analysis {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new PatternError(`the pattern has ${pattern.length} characters; at most 10,000 are allowed`);
  }
  const parsed = parsePattern(pattern);
  if (programSize(parsed.root) > MAX_PROGRAM) {
    throw new PatternError('the pattern is too large: its counted repeats multiply');
  }
  if (setCost(parsed.root, new Set()) > MAX_SET_COST) {
    throw new PatternError('the pattern is too large: it has too many wide classes');
  }
  if (!parsed.backtracking) return { parsed, engine: 're2', program: compileRe2(pattern) };
  if (parsed.backreferences && parsed.caseSensitive) {
    throw new PatternError('a backreference ignores case: it cannot be combined with (?-i)');
  }
  const regexp = new RegExp(nativeSource(parsed), parsed.backreferences ? 'giu' : 'gu');
  return { parsed, engine: 'backtracking', regexp };
}

function setCost(node: Node, seen: Set<string>): number {
  switch (node.kind) {
    case 'set': {
      if (!WIDE.test(node.source)) return 0;
      const ranges = node.source.startsWith('[') ? (node.source.match(/-/g)?.length ?? 0) : 0;
      const cost = 1 + 10 * ranges;
      const again = seen.has(node.source);
      seen.add(node.source);
      // RE2 builds a set as often as it is written; the first time also fills its tables.
      return again ? cost / 2 : cost;
    }
    case 'concat':
    case 'alternate':
      return node.items.reduce((sum, item) => sum + setCost(item, seen), 0);
    case 'capture':
    case 'look':
    case 'repeat':
      return setCost(node.body, seen);
    default:
      return 0;
  }
}

/** A set that may reach beyond ASCII. */
const WIDE = /[^\x00-\x7f]|\\[xpP]/;

/** re2js words its complaints as RE2 does; V8 and a full stack have theirs. */
function asPatternError(error: unknown): PatternError {
  if (error instanceof PatternError) return error;
  if (error instanceof RangeError) return new PatternError('the pattern is too deeply nested or too large');
  const text = error instanceof Error ? error.message : String(error);
  const message = text
    .replace(/^error parsing regexp: /, '')
    .replace(/^Invalid regular expression: .*: /s, '');
  return new PatternError(message, unicodeProposal(text));
}

const UNICODE_NAMES: Readonly<Record<string, string>> = {
  alphabetic: 'L',
  alpha: 'L',
  letter: 'L',
  uppercase: 'Lu',
  lowercase: 'Ll',
  digit: 'Nd',
  number: 'N',
  punctuation: 'P',
  symbol: 'S',
  space: 'Z',
  whitespace: 'Z',
};

/** `\p{Script=Greek}`, `\p{IsGreek}` and `\p{Letter}` in the one spelling that RE2 has. */
function unicodeProposal(message: string): string | undefined {
  const found = /\\([pP])\{(?:\^?(?:Script|sc|gc|General_Category)=|Is)?([A-Za-z_]+)\}/.exec(message);
  if (found === null) return undefined;
  const name = UNICODE_NAMES[(found[2] as string).toLowerCase().replace('_', '')] ?? (found[2] as string);
  const proposal = `\\${found[1]}{${name}}`;
  try {
    compileRe2(proposal);
    return proposal;
  } catch {
    return undefined;
  }
}
