import { PatternError } from './ast.js';
import { analyse } from './dialect.js';
import { automatonBytes, compileRe2, type Re2 } from './re2.js';
import { agreesNatively, nativeSource } from './translate.js';

/** Where a match lies, in UTF-16 offsets: leftmost, and of those the one that RE2 prefers. */
export interface Span {
  start: number;
  end: number;
}

/** A pattern ready to be searched for. Both `search` functions may throw when an engine runs out of stack. */
export interface CompiledPattern {
  /**
   * `native`: V8's engine provably agrees with RE2, which stands behind it. `re2`: only RE2 runs it.
   * `backtracking`: lookaround or backreferences, which only V8's engine knows.
   */
  readonly engine: 'native' | 're2' | 'backtracking';
  /** With V8's engine: fast on ordinary text, exponential on evil. Not for engine `re2`. */
  searchNative(text: string): Span | undefined;
  /** With re2js: linear in the text. Not for engine `backtracking`. */
  searchRe2(text: string): Span | undefined;
  /** Builds the RE2 program, where there is one, so that no search has to. */
  prepareRe2(): void;
  /** Forgets the RE2 program: its state is not to be trusted once a search was cut off. */
  dropRe2(): void;
}

const MAX_CACHED = 512;
const MAX_NATIVE_SOURCE = 40_000;
/** An automaton that has grown past this is built anew next time, so that many patterns fit in memory. */
const MAX_AUTOMATON_BYTES = 1 << 20;

const cache = new Map<string, CompiledPattern | PatternError>();

/** Compiles a pattern of the dialect (DESIGN 3.2.5). The last 512 are kept. Throws PatternError. */
export function compilePattern(pattern: string): CompiledPattern {
  let known = cache.get(pattern);
  if (known === undefined) known = compileOrError(pattern);
  else cache.delete(pattern);
  cache.set(pattern, known);
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value as string);
  if (known instanceof PatternError) throw known;
  return known;
}

function compileOrError(pattern: string): CompiledPattern | PatternError {
  try {
    const analysis = analyse(pattern);
    if (analysis.engine === 'backtracking') return new Backtracking(analysis.regexp);
    if (!agreesNatively(analysis.parsed)) return new Re2Only(pattern, analysis.program);
    const native = nativeOf(nativeSource(analysis.parsed));
    if (native === undefined) return new Re2Only(pattern, analysis.program);
    return new Native(pattern, native);
  } catch (error) {
    return error as PatternError;
  }
}

/** Undefined where V8 finds the expression too large; it is RE2's then. */
function nativeOf(source: string): RegExp | undefined {
  if (source.length > MAX_NATIVE_SOURCE) return undefined;
  try {
    return new RegExp(source, 'u');
  } catch {
    return undefined;
  }
}

class Re2Only implements CompiledPattern {
  readonly engine: 're2' | 'native' = 're2';

  constructor(
    private readonly pattern: string,
    private program: Re2 | undefined,
  ) {}

  searchNative(_text: string): Span | undefined {
    throw new Error('this pattern has no native form');
  }

  searchRe2(text: string): Span | undefined {
    const program = this.prepareRe2();
    if (!program.test(text)) {
      if (automatonBytes(program) > MAX_AUTOMATON_BYTES) this.program = undefined;
      return undefined;
    }
    const matcher = program.matcher(text);
    return matcher.find() ? { start: matcher.start(), end: matcher.end() } : { start: 0, end: 0 };
  }

  prepareRe2(): Re2 {
    this.program ??= compileRe2(this.pattern);
    return this.program;
  }

  dropRe2(): void {
    this.program = undefined;
  }
}

class Native extends Re2Only {
  override readonly engine = 'native';

  constructor(
    pattern: string,
    private readonly regexp: RegExp,
  ) {
    super(pattern, undefined);
  }

  override searchNative(text: string): Span | undefined {
    const found = this.regexp.exec(text);
    return found === null ? undefined : { start: found.index, end: found.index + found[0].length };
  }
}

class Backtracking implements CompiledPattern {
  readonly engine = 'backtracking';

  constructor(private readonly regexp: RegExp) {}

  searchNative(text: string): Span | undefined {
    for (let from = 0; ; ) {
      this.regexp.lastIndex = from;
      const found = this.regexp.exec(text);
      if (found === null) return undefined;
      if (!splitsPair(text, found.index)) return { start: found.index, end: found.index + found[0].length };
      from = found.index + 1;
    }
  }

  searchRe2(_text: string): Span | undefined {
    throw new Error('this pattern has no RE2 form');
  }

  prepareRe2(): void {}

  dropRe2(): void {}
}

/** V8 finds empty matches between the halves of a surrogate pair, where there is no position. */
function splitsPair(text: string, at: number): boolean {
  return at > 0 && isHalf(text.charCodeAt(at - 1), 0xd800) && isHalf(text.charCodeAt(at), 0xdc00);
}

function isHalf(unit: number, first: number): boolean {
  return unit >= first && unit < first + 0x400;
}
