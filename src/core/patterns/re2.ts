import { RE2JS } from 're2js';

/** A compiled RE2 program; the reference for what a pattern means. */
export type Re2 = RE2JS;

const FLAGS = RE2JS.CASE_INSENSITIVE | RE2JS.MULTILINE;

/** Compiles in the dialect: case-insensitive, `^` and `$` at lines (DESIGN 3.2.5). Throws what re2js throws. */
export function compileRe2(pattern: string): Re2 {
  return RE2JS.compile(pattern, FLAGS);
}

/** Memory that a program's automaton has taken so far, in re2js's own count of bytes. */
export function automatonBytes(program: Re2): number {
  const dfa = program.re2().lazyDFA;
  return dfa === null ? 0 : dfa.maxMem - dfa.memBudget;
}

/** The instruction for one code point; of re2js's program only this is of interest. */
interface RuneInstruction {
  arg: number;
  runes: ArrayLike<number>;
}

const MAX_CODE_POINT = 0x10ffff;

function runesOf(source: string, fold: boolean): RuneInstruction | undefined {
  const program = RE2JS.compile(source, fold ? RE2JS.CASE_INSENSITIVE : 0).re2().prog;
  if (program.start === 0) return undefined;
  return program.inst[program.start] as RuneInstruction;
}

function complement(ranges: readonly number[]): number[] {
  const out: number[] = [];
  let next = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const low = ranges[at] as number;
    if (low > next) out.push(next, low - 1);
    next = (ranges[at + 1] as number) + 1;
  }
  if (next <= MAX_CODE_POINT) out.push(next, MAX_CODE_POINT);
  return out;
}

/**
 * The code points of a class, as sorted [low, high] pairs in one flat list. RE2 itself is asked, so that
 * case folding, POSIX and Unicode classes mean what it says. Throws what re2js throws.
 */
export function setOf(source: string, fold: boolean): readonly number[] {
  const instruction = runesOf(source, fold);
  if (instruction === undefined) return [];
  const ranges = Array.from(instruction.runes);
  if (ranges.length !== 1) return ranges;
  const only = ranges[0] as number;
  return fold ? foldedLiteral(only) : [only, only];
}

/** Everything that equals the code point when case is ignored, as pairs. */
export function foldedLiteral(codePoint: number): readonly number[] {
  // A negated class is the one form in which re2js lists a fold instead of flagging it.
  const others = runesOf(`[^\\x{${codePoint.toString(16)}}]`, true);
  return others === undefined ? [] : complement(Array.from(others.runes));
}
