import { type Assertion, isNullable, type Node, type Parsed } from './ast.js';
import { foldedLiteral, setOf } from './re2.js';

/**
 * The source of a native RegExp, for the flags `u` (or `iu` with backreferences).
 *
 * Case folding is spelt out in sets that RE2 itself names, so that the flag `i`, whose folding and whose
 * `\b` differ from RE2's, is not needed; neither is `m`, because JavaScript knows more line ends.
 */
export function nativeSource(parsed: Parsed): string {
  return emit(parsed.root, parsed.backreferences);
}

/**
 * Whether the native engine provably finds what RE2 finds, extent included (DESIGN 3.2.5). Left out: what
 * can match nothing (the engines differ on empty rounds of a loop, and V8 finds empty matches inside a
 * surrogate pair), single surrogates, and sets so large that a program of them is slow to build.
 */
export function agreesNatively(parsed: Parsed): boolean {
  return !parsed.backtracking && !parsed.odd && !isNullable(parsed.root) && isPlain(parsed.root);
}

const MAX_RANGES = 64;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

function isPlain(node: Node): boolean {
  switch (node.kind) {
    case 'literal':
      return node.codePoint < FIRST_SURROGATE || node.codePoint > LAST_SURROGATE;
    case 'set':
      return isPlainSet(setOf(node.source, node.fold));
    case 'concat':
    case 'alternate':
      return node.items.every(isPlain);
    case 'capture':
      return isPlain(node.body);
    case 'repeat':
      return node.max !== 0 && !isNullable(node.body) && isPlain(node.body);
    default:
      return true;
  }
}

function isPlainSet(ranges: readonly number[]): boolean {
  if (ranges.length === 0 || ranges.length > 2 * MAX_RANGES) return false;
  for (let at = 0; at < ranges.length; at += 2) {
    const low = ranges[at] as number;
    const high = ranges[at + 1] as number;
    const touches = low <= LAST_SURROGATE && high >= FIRST_SURROGATE;
    if (touches && (low > FIRST_SURROGATE || high < LAST_SURROGATE)) return false;
  }
  return true;
}

const ASSERTIONS: Readonly<Record<Assertion, string>> = {
  lineStart: '(?<![^\\n])',
  lineEnd: '(?=\\n|$)',
  textStart: '^',
  textEnd: '$',
  word: '\\b',
  notWord: '\\B',
};

function emit(node: Node, captures: boolean): string {
  switch (node.kind) {
    case 'empty':
      return '(?:)';
    case 'literal':
      return literal(node.codePoint, node.fold);
    case 'set':
      return set(setOf(node.source, node.fold));
    case 'any':
      return node.lines ? '[^]' : '[^\\n]';
    case 'assert':
      return ASSERTIONS[node.what];
    case 'concat':
      return node.items.map((item) => emit(item, captures)).join('');
    case 'alternate':
      return `(?:${node.items.map((item) => emit(item, captures)).join('|')})`;
    case 'capture':
      return `(${captures ? '' : '?:'}${emit(node.body, captures)})`;
    case 'look':
      return `(?${node.ahead ? '' : '<'}${node.negated ? '!' : '='}${emit(node.body, captures)})`;
    case 'backreference':
      return `(?:\\${node.group})`;
    case 'repeat':
      return `(?:${emit(node.body, captures)})${quantifier(node.min, node.max)}${node.greedy ? '' : '?'}`;
  }
}

function quantifier(min: number, max: number): string {
  if (max === -1) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function character(codePoint: number): string {
  const char = codePoint < 0x80 ? String.fromCharCode(codePoint) : '';
  return /^[0-9A-Za-z]$/.test(char) ? char : `\\u{${codePoint.toString(16)}}`;
}

function literal(codePoint: number, fold: boolean): string {
  if (!fold) return character(codePoint);
  return set(codePoint < 0x80 ? asciiFold(codePoint) : foldedLiteral(codePoint));
}

/** What ASCII folds to: letters to their other case, and `k` and `s` to U+212A and U+017F as well. */
function asciiFold(codePoint: number): number[] {
  const upper = codePoint >= 97 && codePoint <= 122 ? codePoint - 32 : codePoint;
  if (upper < 65 || upper > 90) return [codePoint, codePoint];
  const pairs = [upper, upper, upper + 32, upper + 32];
  if (upper === 75) pairs.push(0x212a, 0x212a);
  if (upper === 83) pairs.push(0x17f, 0x17f);
  return pairs;
}

function set(ranges: readonly number[]): string {
  if (ranges.length === 2 && ranges[0] === ranges[1]) return character(ranges[0] as number);
  let out = '[';
  for (let at = 0; at < ranges.length; at += 2) {
    const low = ranges[at] as number;
    const high = ranges[at + 1] as number;
    out += low === high ? character(low) : `${character(low)}-${character(high)}`;
  }
  return `${out}]`;
}
