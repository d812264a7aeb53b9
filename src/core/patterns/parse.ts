import { type Node, type Parsed, PatternError } from './ast.js';
import { Escapes } from './escapes.js';

/** Patterns may nest groups this deep; RE2 stops at about the same. */
const MAX_DEPTH = 250;
/** RE2's own bound on a counted repeat. */
const MAX_REPEAT = 1000;

interface Flags {
  fold: boolean;
  multiline: boolean;
  dotAll: boolean;
  lazy: boolean;
}

/**
 * Reads a pattern of the dialect (DESIGN 3.2.5), with the flags `i` and `m` on from the start. Throws
 * PatternError. Whether RE2 accepts it too is for re2js to say; unknown class names are left to it.
 */
export function parsePattern(pattern: string): Parsed {
  return new Parser(pattern).parse();
}

class Parser extends Escapes {
  private flags: Flags = { fold: true, multiline: true, dotAll: false, lazy: false };
  private groups = 0;
  private readonly names = new Map<string, number>();
  private readonly references: { node: { group: number }; name: string }[] = [];
  private backtracking = false;
  private odd = false;
  private caseSensitive = false;

  parse(): Parsed {
    const root = this.alternatives(0);
    if (this.at < this.pattern.length) throw new PatternError(`unexpected ) at position ${this.at + 1}`);
    for (const { node, name } of this.references) node.group = this.resolve(name);
    return {
      root,
      backtracking: this.backtracking,
      backreferences: this.references.length > 0,
      odd: this.odd,
      caseSensitive: this.caseSensitive,
    };
  }

  private resolve(name: string): number {
    const group = /^\d+$/.test(name) ? Number(name) : this.names.get(name);
    if (group !== undefined && group >= 1 && group <= this.groups) return group;
    throw new PatternError(`there is no group ${name} for the backreference to name`);
  }

  private alternatives(depth: number): Node {
    if (depth > MAX_DEPTH) throw new PatternError(`groups nest deeper than ${MAX_DEPTH}`);
    const branches: Node[] = [];
    let branch: Node[] = [];
    let state = { repeated: false, start: this.at };
    while (this.more() && this.peek() !== ')') {
      if (this.eat('|')) {
        branches.push(concat(branch));
        branch = [];
        state = { repeated: false, start: this.at };
        continue;
      }
      const bounds = this.quantifier();
      if (bounds !== undefined) {
        this.repeat(branch, bounds, state);
        state.repeated = true;
        continue;
      }
      const start = this.at;
      const before = branch.length;
      this.item(branch, depth);
      if (branch.length === before) this.noteOddQuantifier();
      state = { repeated: false, start };
    }
    branches.push(concat(branch));
    return branches.length === 1 ? (branches[0] as Node) : { kind: 'alternate', items: branches };
  }

  /** A flag group or an empty quotation is no operand: RE2 lets a quantifier reach past it. */
  private noteOddQuantifier(): void {
    if (this.more() && '*+?{'.includes(this.peek())) this.odd = true;
  }

  /** `*`, `+`, `?`, `{n}`, `{n,}`, `{n,m}`; undefined, and nothing consumed, for anything else. */
  private quantifier(): { min: number; max: number; text: string } | undefined {
    const simple = { '*': [0, -1], '+': [1, -1], '?': [0, 1] }[this.peek()];
    if (simple !== undefined) {
      const text = this.peek();
      this.at += 1;
      return { min: simple[0] as number, max: simple[1] as number, text };
    }
    if (this.peek() !== '{') return undefined;
    COUNTED.lastIndex = this.at;
    const found = COUNTED.exec(this.pattern);
    if (found === null) return undefined;
    this.at += found[0].length;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === undefined ? -1 : Number(found[3]);
    if (max >= 0 && min > max) throw new PatternError(`${found[0]} has its bounds the wrong way round`);
    return { min, max, text: found[0] };
  }

  private repeat(
    branch: Node[],
    bounds: { min: number; max: number; text: string },
    state: { repeated: boolean; start: number },
  ): void {
    const place = `at position ${this.at - bounds.text.length + 1}`;
    if (state.repeated) {
      const possessive = bounds.text === '+';
      const why = possessive
        ? 'possessive quantifiers are not part of RE2'
        : 'one quantifier follows another';
      const before = this.pattern.slice(state.start, this.at - 1);
      throw new PatternError(`${why} ${place}`, possessive ? before : undefined);
    }
    const body = branch.pop();
    if (body === undefined) throw new PatternError(`${bounds.text} ${place} has nothing to repeat`);
    if (bounds.min > MAX_REPEAT || bounds.max > MAX_REPEAT) {
      const operand = this.pattern.slice(state.start, this.at - bounds.text.length);
      throw new PatternError(
        `RE2 repeats at most 1,000 times: ${bounds.text} ${place}`,
        split(operand, bounds),
      );
    }
    const lazy = this.eat('?') !== this.flags.lazy;
    branch.push({ kind: 'repeat', body, min: bounds.min, max: bounds.max, greedy: !lazy });
  }

  private item(branch: Node[], depth: number): void {
    if (this.peek() === '(') this.group(branch, depth);
    else if (this.peek() === '\\') this.escaped(branch);
    else branch.push(this.single());
  }

  private single(): Node {
    const { fold, multiline, dotAll } = this.flags;
    if (this.peek() === '[') return { kind: 'set', source: this.classSource(), fold };
    if (this.eat('.')) return { kind: 'any', lines: dotAll };
    if (this.eat('^')) return { kind: 'assert', what: multiline ? 'lineStart' : 'textStart' };
    if (this.eat('$')) return { kind: 'assert', what: multiline ? 'lineEnd' : 'textEnd' };
    return { kind: 'literal', codePoint: this.take(), fold };
  }

  private escaped(branch: Node[]): void {
    const found = this.readEscape();
    const { fold } = this.flags;
    if (found.kind === 'quote') {
      if (found.text === '') this.odd = true;
      for (const char of found.text) branch.push({ kind: 'literal', codePoint: codePointOf(char), fold });
    } else if (found.kind === 'backreference') this.reference(branch, found.name);
    else if (found.kind === 'assert') branch.push(found);
    else branch.push({ ...found, fold });
  }

  private reference(branch: Node[], name: string): void {
    this.backtracking = true;
    const node = { kind: 'backreference' as const, group: 0 };
    this.references.push({ node, name });
    branch.push(node);
  }

  private group(branch: Node[], depth: number): void {
    const open = this.at;
    const outer = this.flags;
    const head = this.readGroupHead();
    if (head.kind === 'backreference') {
      this.reference(branch, head.name);
      return;
    }
    if (head.kind === 'flags') {
      this.flags = { ...outer, ...head.set };
      if (head.set.fold === false) this.caseSensitive = true;
      if (!head.opens) return;
    }
    if (head.kind === 'capture') this.capture(head.name);
    if (head.kind === 'look') this.backtracking = true;
    const body = this.alternatives(depth + 1);
    if (!this.eat(')')) throw new PatternError(`the group at position ${open + 1} is never closed`);
    this.flags = outer;
    if (head.kind === 'capture') branch.push({ kind: 'capture', body });
    else if (head.kind === 'look') branch.push({ ...head, body });
    else branch.push(body);
  }

  private capture(name: string | undefined): void {
    this.groups += 1;
    if (name === undefined) return;
    if (this.names.has(name)) throw new PatternError(`two groups are named ${name}`);
    this.names.set(name, this.groups);
  }
}

const COUNTED = /\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/y;

function codePointOf(char: string): number {
  return char.codePointAt(0) as number;
}

function concat(items: Node[]): Node {
  if (items.length === 0) return { kind: 'empty' };
  return items.length === 1 ? (items[0] as Node) : { kind: 'concat', items };
}

/** `x{2500,}` as `x{1000}x{1000}x{500,}`: the same language, in repeats that RE2 takes. */
function split(operand: string, bounds: { min: number; max: number }): string | undefined {
  const most = Math.max(bounds.min, bounds.max);
  if (operand.length > 40 || most > 10_000) return undefined;
  let out = '';
  for (let done = 0; done < most; done += MAX_REPEAT) {
    const part = (bound: number) => Math.min(Math.max(bound - done, 0), MAX_REPEAT);
    const low = part(bounds.min);
    const last = done + MAX_REPEAT >= most;
    if (bounds.max === -1) out += `${operand}{${low}${last ? ',' : ''}}`;
    else out += low === part(bounds.max) ? `${operand}{${low}}` : `${operand}{${low},${part(bounds.max)}}`;
  }
  return out;
}
