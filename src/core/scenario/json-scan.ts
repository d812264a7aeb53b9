/** Something that makes a text no acceptable JSON. */
export interface JsonFlaw {
  /** UTF-16 offset in the text. */
  offset: number;
  /** Path of the value that it concerns; empty for a syntax error. */
  path: string;
  message: string;
}

/** Deepest nesting of objects and arrays that is accepted. */
export const MAX_JSON_DEPTH = 100;

type Expect = 'value' | 'first item' | 'key' | 'first key' | 'after';

interface Frame {
  kind: 'object' | 'array';
  keys: Set<string>;
  key: string;
  index: number;
}

class Syntax extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\n\r]*/y;

/** `a.b[0]["odd key"]`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  const shown = key.length > 80 ? `${key.slice(0, 79)}…` : key;
  if (!/^[A-Za-z_$][\w$-]*$/.test(shown)) return `${path}[${JSON.stringify(shown)}]`;
  return path === '' ? shown : `${path}.${shown}`;
}

/** Walks JSON without recursion, so that no nesting can exhaust the stack. */
class Scanner {
  readonly #text: string;
  readonly #frames: Frame[] = [];
  readonly flaws: JsonFlaw[] = [];
  readonly #visit: ((path: string, offset: number) => void) | undefined;
  #at = 0;
  #expect: Expect = 'value';

  constructor(text: string, visit?: (path: string, offset: number) => void) {
    this.#text = text;
    this.#visit = visit;
  }

  run(): void {
    for (;;) {
      this.#match(SPACE);
      if (this.#expect === 'after' && this.#frames.length === 0) break;
      this.#step();
    }
    if (this.#at < this.#text.length)
      throw new Syntax('unexpected text after the end of the document', this.#at);
  }

  #step(): void {
    const char = this.#text[this.#at];
    if (this.#expect === 'first item' && char === ']') this.#close();
    else if (this.#expect === 'first key' && char === '}') this.#close();
    else if (this.#expect === 'key' || this.#expect === 'first key') this.#key();
    else if (this.#expect === 'after') this.#after(char);
    else this.#value(char);
  }

  #match(sticky: RegExp): boolean {
    sticky.lastIndex = this.#at;
    if (!sticky.test(this.#text)) return false;
    this.#at = sticky.lastIndex;
    return true;
  }

  #fail(expected: string): never {
    const char = this.#text.codePointAt(this.#at);
    const found = char === undefined ? 'the end of the file' : JSON.stringify(String.fromCodePoint(char));
    throw new Syntax(`expected ${expected}, found ${found}`, this.#at);
  }

  #value(char: string | undefined): void {
    this.#visit?.(this.#path(), this.#at);
    if (char === '{') this.#open('object', 'first key');
    else if (char === '[') this.#open('array', 'first item');
    else {
      if (char === '"') this.#string();
      else if (!this.#match(NUMBER) && !this.#match(WORD)) this.#fail('a value');
      this.#expect = 'after';
    }
  }

  #open(kind: Frame['kind'], expect: Expect): void {
    if (this.#frames.length >= MAX_JSON_DEPTH) {
      throw new Syntax(`nested deeper than ${MAX_JSON_DEPTH} levels`, this.#at);
    }
    this.#frames.push({ kind, keys: new Set(), key: '', index: 0 });
    this.#at += 1;
    this.#expect = expect;
  }

  #close(): void {
    this.#frames.pop();
    this.#at += 1;
    this.#expect = 'after';
  }

  #string(): void {
    const start = this.#at;
    this.#at += 1;
    for (;;) {
      this.#match(PLAIN);
      if (this.#text[this.#at] === '"') break;
      if (this.#at >= this.#text.length) throw new Syntax('the string is never closed', start);
      if (!this.#match(ESCAPE)) {
        const what = this.#text[this.#at] === '\\' ? 'unknown escape' : 'unescaped control character';
        throw new Syntax(`${what} in a string`, this.#at);
      }
    }
    this.#at += 1;
  }

  #key(): void {
    const start = this.#at;
    if (this.#text[start] !== '"') this.#fail('a key in double quotes');
    this.#string();
    const key = JSON.parse(this.#text.slice(start, this.#at)) as string;
    const frame = this.#frames.at(-1) as Frame;
    frame.key = key;
    if (key === '__proto__') this.#flaw(start, 'the key "__proto__" is not allowed');
    else if (frame.keys.has(key)) this.#flaw(start, 'the key appears twice in its object');
    frame.keys.add(key);
    this.#match(SPACE);
    if (this.#text[this.#at] !== ':') this.#fail('":"');
    this.#at += 1;
    this.#expect = 'value';
  }

  #after(char: string | undefined): void {
    const frame = this.#frames.at(-1) as Frame;
    const closing = frame.kind === 'object' ? '}' : ']';
    if (char === closing) this.#close();
    else if (char === ',') {
      this.#at += 1;
      frame.index += 1;
      this.#expect = frame.kind === 'object' ? 'key' : 'value';
    } else this.#fail(`"," or "${closing}"`);
  }

  #path(): string {
    let path = '';
    for (const { kind, key, index } of this.#frames) path = childPath(path, kind === 'object' ? key : index);
    return path;
  }

  #flaw(offset: number, message: string): void {
    this.flaws.push({ offset, path: this.#path(), message });
  }
}

/**
 * What is wrong with a JSON text: its first syntax error, or else its duplicate keys and keys named
 * `__proto__`. `fatal` when it cannot be parsed, or is nested deeper than 100 levels.
 */
export function scanJson(text: string): { fatal?: JsonFlaw; flaws: JsonFlaw[] } {
  const scanner = new Scanner(text);
  try {
    scanner.run();
    return { flaws: scanner.flaws };
  } catch (error) {
    if (!(error instanceof Syntax)) throw error;
    return { fatal: { offset: error.offset, path: '', message: error.message }, flaws: scanner.flaws };
  }
}

/** A path and those above it, the longest first: a key that is missing stands nowhere, its object does. */
function andAbove(path: string): string[] {
  const paths: string[] = [];
  for (let at = path; at !== ''; at = at.replace(/(?:\.[^.[\]]*|\[[^\]]*\]|^[^.[\]]+)$/, '')) {
    if (at === paths.at(-1)) break;
    paths.push(at);
  }
  return paths;
}

/**
 * For each path the line, from 1, of its value in a valid JSON text, or of the nearest value above it;
 * undefined where only the whole document is above.
 */
export function linesOf(text: string, paths: readonly string[]): (number | undefined)[] {
  const wanted = new Map(paths.map((path) => [path, andAbove(path)]));
  const all = new Set([...wanted.values()].flat());
  const offsets = new Map<string, number>();
  new Scanner(text, (path, offset) => {
    if (all.has(path)) offsets.set(path, offset);
  }).run();
  const ends = Array.from(text.matchAll(/\r\n|\r|\n/g), ({ index }) => index);
  return paths.map((path) => {
    const found = wanted.get(path)?.find((at) => offsets.has(at));
    const offset = found === undefined ? undefined : offsets.get(found);
    return offset === undefined ? undefined : lineAt(ends, offset);
  });
}

/** Line of an offset, by bisection over the offsets of line ends. */
function lineAt(ends: readonly number[], offset: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

/** Line and column, both from 1, of an offset in a text. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
