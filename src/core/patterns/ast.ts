/** Zero-width conditions; `word` is ASCII, as in RE2. */
export type Assertion = 'lineStart' | 'lineEnd' | 'textStart' | 'textEnd' | 'word' | 'notWord';

/** A pattern of the dialect: RE2's syntax, with lookaround and backreferences besides (DESIGN 3.2.5). */
export type Node =
  | { kind: 'empty' }
  /** One code point, literally; `fold` is whether case is ignored here. */
  | { kind: 'literal'; codePoint: number; fold: boolean }
  /** One code point of a set; `source` is the class as RE2 spells it. */
  | { kind: 'set'; source: string; fold: boolean }
  /** Any code point; without `lines` not the line feed. */
  | { kind: 'any'; lines: boolean }
  | { kind: 'assert'; what: Assertion }
  | { kind: 'concat'; items: Node[] }
  | { kind: 'alternate'; items: Node[] }
  | { kind: 'capture'; body: Node }
  | { kind: 'repeat'; body: Node; min: number; max: number; greedy: boolean }
  | { kind: 'look'; ahead: boolean; negated: boolean; body: Node }
  | { kind: 'backreference'; group: number };

export interface Parsed {
  root: Node;
  /** It has lookaround or backreferences, which RE2 has not. */
  backtracking: boolean;
  backreferences: boolean;
  /** Valid for RE2, but spelt so that a faithful translation is not worth its risk. */
  odd: boolean;
  /** Case counts somewhere: `(?-i)`. */
  caseSensitive: boolean;
}

/** A pattern that is refused, in the words that the author reads. */
export class PatternError extends Error {
  /** What to write instead, where there is such a thing. */
  readonly proposal: string | undefined;

  constructor(message: string, proposal?: string) {
    super(message);
    this.name = 'PatternError';
    this.proposal = proposal;
  }
}

/** Whether the node can match the empty string; lookaround and backreferences count as able to. */
export function isNullable(node: Node): boolean {
  switch (node.kind) {
    case 'literal':
    case 'set':
    case 'any':
      return false;
    case 'concat':
      return node.items.every(isNullable);
    case 'alternate':
      return node.items.some(isNullable);
    case 'capture':
      return isNullable(node.body);
    case 'repeat':
      return node.min === 0 || isNullable(node.body);
    default:
      return true;
  }
}

/** About how many instructions RE2 compiles the node to; it unrolls counted repeats. */
export function programSize(node: Node): number {
  switch (node.kind) {
    case 'concat':
      return node.items.reduce((sum, item) => sum + programSize(item), 0);
    case 'alternate':
      return node.items.reduce((sum, item) => sum + programSize(item) + 1, 0);
    case 'capture':
    case 'look':
      return programSize(node.body) + 2;
    case 'repeat': {
      const body = programSize(node.body);
      const optional = node.max === -1 ? 1 : node.max - node.min;
      return node.min * body + optional * (body + 1);
    }
    default:
      return 1;
  }
}
