import { nearestName } from '../problem.js';
import { type Assertion, PatternError } from './ast.js';

/** What a backslash introduced outside a class. */
export type Escape =
  | { kind: 'literal'; codePoint: number }
  | { kind: 'set'; source: string }
  | { kind: 'assert'; what: Assertion }
  | { kind: 'quote'; text: string }
  | { kind: 'backreference'; name: string };

/** What a parenthesis opens. */
export type GroupHead =
  | { kind: 'capture'; name: string | undefined }
  | {
      kind: 'flags';
      set: { fold?: boolean; multiline?: boolean; dotAll?: boolean; lazy?: boolean };
      opens: boolean;
    }
  | { kind: 'look'; ahead: boolean; negated: boolean }
  | { kind: 'backreference'; name: string };

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'textStart',
  z: 'textEnd',
  b: 'word',
  B: 'notWord',
};
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const LOOKS: Readonly<Record<string, { ahead: boolean; negated: boolean }>> = {
  '(?=': { ahead: true, negated: false },
  '(?!': { ahead: true, negated: true },
  '(?<=': { ahead: false, negated: false },
  '(?<!': { ahead: false, negated: true },
};
const FLAG_NAMES = { i: 'fold', m: 'multiline', s: 'dotAll', U: 'lazy' } as const;

const POSIX = 'alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit'.split(
  ' ',
);

/** Escapes of other dialects, and how RE2 spells them. */
const FOREIGN: readonly [RegExp, (found: RegExpExecArray) => string | undefined][] = [
  [/\\[uU]\{([0-9A-Fa-f]+)\}/y, (found) => `\\x{${found[1]}}`],
  [/\\u([0-9A-Fa-f]{4})/y, (found) => `\\x{${found[1]}}`],
  [/\\U([0-9A-Fa-f]{8})/y, (found) => `\\x{${found[1]?.replace(/^0+(?=.)/, '')}}`],
  [/\\N\{U\+([0-9A-Fa-f]+)\}/y, (found) => `\\x{${found[1]}}`],
  [/\\o\{([0-7]+)\}/y, (found) => `\\x{${Number.parseInt(found[1] ?? '', 8).toString(16)}}`],
  [/\\c([A-Za-z])/y, (found) => `\\x${((found[1]?.charCodeAt(0) ?? 0) % 32).toString(16).padStart(2, '0')}`],
  [/\\Z/y, () => '\\z'],
  [/\\e/y, () => '\\x1b'],
  [/\\h/y, () => '[\\t ]'],
  [/\\H/y, () => '[^\\t ]'],
  [/\\R/y, () => '\\n'],
  [/\\N/y, () => '[^\\n]'],
  [/\\C/y, () => '(?s:.)'],
  [/\\x([0-9A-Fa-f])(?![0-9A-Fa-f])/y, (found) => `\\x0${found[1]}`],
  [/\\[^\x00-\x7f]/uy, (found) => found[0].slice(1)],
];

const FOREIGN_GROUPS: readonly [RegExp, string, string | undefined][] = [
  [/\(\?>/y, 'atomic groups are not part of RE2', '(?:'],
  [/\(\?\|/y, 'branch-reset groups are not part of RE2', '(?:'],
  [/\(\?#[^)]*\)/y, 'comments are not part of RE2', ''],
  [/\(\?'(\w+)'/y, 'this spelling of a named group is not RE2’s', '(?P<$1>'],
  [/\(\?\(/y, 'conditionals are not part of RE2', undefined],
  [/\(\?(?:R|[+-]?\d+|&\w+|P>\w+)\)/y, 'recursion is not part of RE2', undefined],
];

/** A cursor over a pattern that knows RE2's escapes, classes and group heads. Throws PatternError. */
export class Escapes {
  protected at = 0;

  constructor(protected readonly pattern: string) {}

  protected more(): boolean {
    return this.at < this.pattern.length;
  }

  protected peek(): string {
    return this.pattern[this.at] ?? '';
  }

  protected eat(char: string): boolean {
    if (!this.pattern.startsWith(char, this.at)) return false;
    this.at += char.length;
    return true;
  }

  protected take(): number {
    const codePoint = this.pattern.codePointAt(this.at) ?? 0;
    this.at += codePoint > 0xffff ? 2 : 1;
    return codePoint;
  }

  private match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const found = expression.exec(this.pattern);
    if (found !== null) this.at += found[0].length;
    return found;
  }

  protected readEscape(): Escape {
    const quoted = this.match(QUOTED);
    if (quoted !== null) return { kind: 'quote', text: quoted[1] ?? '' };
    const next = this.pattern[this.at + 1] ?? '';
    const what = Object.hasOwn(ASSERTIONS, next) ? ASSERTIONS[next] : undefined;
    if (what !== undefined) {
      this.at += 2;
      return { kind: 'assert', what };
    }
    const reference = this.match(/\\(?:([1-7])(?![0-7])|([89])|k[<{'](\w+)[>}']|g\{?(\d)\}?)/y);
    if (reference !== null) {
      return { kind: 'backreference', name: reference.slice(1).find((name) => name !== undefined) ?? '' };
    }
    const set = this.match(SHORT_CLASS);
    if (set !== null) return { kind: 'set', source: set[0] };
    return { kind: 'literal', codePoint: this.readCharacter(false) };
  }

  /** An escape that stands for one code point, as both classes and patterns have it. */
  private readCharacter(inClass: boolean): number {
    const start = this.at;
    const hexadecimal = this.match(/\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/y);
    if (hexadecimal !== null) {
      const value = Number.parseInt(hexadecimal[1] ?? hexadecimal[2] ?? '', 16);
      if (value <= 0x10ffff) return value;
      throw new PatternError(`${hexadecimal[0]} is beyond the last code point, \\x{10ffff}`);
    }
    const octal = this.match(/\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/y);
    if (octal !== null) return Number.parseInt(octal[1] ?? '', 8);
    const control = this.match(/\\([afnrtv])/y);
    if (control !== null) return CONTROLS[control[1] ?? ''] ?? 0;
    const punctuation = this.match(/\\([\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f])/y);
    if (punctuation !== null) return punctuation[1]?.codePointAt(0) ?? 0;
    if (start === this.pattern.length - 1) throw new PatternError('the pattern ends in a lone backslash');
    throw this.foreign(inClass);
  }

  private foreign(inClass: boolean): PatternError {
    const place = `at position ${this.at + 1}`;
    if (inClass && this.pattern.startsWith('\\b', this.at)) {
      return new PatternError(`\\b is not an escape inside a class for RE2 (${place})`, '\\x08');
    }
    for (const [expression, spell] of FOREIGN) {
      const found = this.match(expression);
      if (found !== null) return new PatternError(`${found[0]} is not part of RE2 (${place})`, spell(found));
    }
    const text = `\\${String.fromCodePoint(this.pattern.codePointAt(this.at + 1) ?? 0)}`;
    return new PatternError(`${text} is not an escape that RE2 knows (${place})`);
  }

  /** The text of a class, from its bracket to its end. */
  protected classSource(): string {
    const start = this.at;
    this.at += 1;
    this.eat('^');
    for (let first = true; first || this.peek() !== ']'; first = false) {
      if (this.pattern.startsWith('[:', this.at) && this.pattern.includes(':]', this.at)) this.posix();
      else if (this.match(SHORT_CLASS) === null) this.member(start);
    }
    this.at += 1;
    return this.pattern.slice(start, this.at);
  }

  /** One character of a class, or a range of them. */
  private member(start: number): void {
    this.classCharacter(start);
    if (this.peek() !== '-' || this.pattern[this.at + 1] === ']') return;
    this.at += 1;
    this.classCharacter(start);
  }

  private classCharacter(start: number): void {
    if (!this.more()) throw new PatternError(`the class at position ${start + 1} is never closed`);
    if (this.peek() === '\\') this.readCharacter(true);
    else this.take();
  }

  private posix(): void {
    const found = this.match(/\[:(\^?)([^:\]]*):\]/y);
    if (found !== null && POSIX.includes(found[2] ?? '')) return;
    const nearest = nearestName(found?.[2] ?? '', POSIX);
    const text = found?.[0] ?? '[:';
    throw new PatternError(`${text} is not a class that RE2 knows`, nearest && `[:${found?.[1]}${nearest}:]`);
  }

  protected readGroupHead(): GroupHead {
    if (!this.pattern.startsWith('(?', this.at)) {
      this.at += 1;
      return { kind: 'capture', name: undefined };
    }
    const look = this.match(/\(\?<?[=!]/y);
    if (look !== null) return { kind: 'look', ...(LOOKS[look[0]] as { ahead: boolean; negated: boolean }) };
    const named = this.match(/\(\?P?<([0-9A-Za-z_]+)>/y);
    if (named !== null) return { kind: 'capture', name: named[1] };
    const reference = this.match(/\(\?P=(\w+)\)/y);
    if (reference !== null) return { kind: 'backreference', name: reference[1] ?? '' };
    const flags = this.match(/\(\?([imsU]*)(?:(-)([imsU]+))?([:)])/y);
    if (flags === null) throw this.foreignGroup();
    const set: Record<string, boolean> = {};
    for (const flag of flags[1] ?? '') set[FLAG_NAMES[flag as keyof typeof FLAG_NAMES]] = true;
    for (const flag of flags[3] ?? '') set[FLAG_NAMES[flag as keyof typeof FLAG_NAMES]] = false;
    return { kind: 'flags', set, opens: flags[4] === ':' };
  }

  private foreignGroup(): PatternError {
    const place = `at position ${this.at + 1}`;
    for (const [expression, why, proposal] of FOREIGN_GROUPS) {
      const found = this.match(expression);
      if (found !== null)
        return new PatternError(`${why} (${place})`, proposal?.replace('$1', found[1] ?? ''));
    }
    const text = this.pattern.slice(this.at, this.at + 8);
    return new PatternError(
      `${text} does not open a group that RE2 knows (${place}); its flags are i, m, s, U`,
    );
  }
}

const QUOTED = /\\Q([\s\S]*?)(?:\\E|(?![\s\S]))/y;
const SHORT_CLASS = /\\(?:[dDsSwW]|[pP](?:\{[^}]*\}|[^{]))/uy;
