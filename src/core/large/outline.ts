import { createHash } from 'node:crypto';
import { type Rule, SCOPES } from '../scenario/model.js';

/** A scenario without the parameters of its rules: what a decision needs, and little of it. */
export interface ScenarioOutline {
  key: string;
  digest: string;
  rules: Rule[];
}

const RULES = '"rules":[';
const NO_PARAMS = {};

/** Where the object that begins at `from` ends: behind its last brace; -1 when the text ends before it does. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const char = text[i];
    if (char === '{') depth += 1;
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return i + 1;
    } else if (char === '"') {
      for (i += 1; i < text.length && text[i] !== '"'; i++) if (text[i] === '\\') i += 1;
      if (i >= text.length) return -1;
    }
  }
  return -1;
}

/** Reads the rules of a stored scenario as its text comes, one after the other. */
class OutlineReader {
  readonly #hash = createHash('sha256');
  readonly rules: Rule[] = [];
  readonly #words = new Map<string, string>();
  #head = '';
  #rest = '';
  #state: 'head' | 'rules' | 'tail' = 'head';

  add(piece: string): void {
    this.#hash.update(piece);
    this.#rest += piece;
    if (this.#state === 'head') {
      const at = this.#rest.indexOf(RULES);
      if (at < 0) return;
      this.#head = this.#rest.slice(0, at + RULES.length);
      this.#rest = this.#rest.slice(at + RULES.length);
      this.#state = 'rules';
    }
    let from = 0;
    while (this.#state === 'rules' && from < this.#rest.length) {
      const char = this.#rest[from];
      if (char === ',') from += 1;
      else if (char !== '{') this.#state = 'tail';
      else {
        const to = endOfObject(this.#rest, from);
        if (to < 0) break;
        this.rules.push(this.#rule(this.#rest.slice(from, to)));
        from = to;
      }
    }
    this.#rest = this.#rest.slice(from);
  }

  /** Few words name the validators of all rules: each is kept once. */
  #rule(json: string): Rule {
    const { scope, index, label, validator, required, negate } = JSON.parse(json) as Rule;
    const known = this.#words.get(validator) ?? validator;
    this.#words.set(known, known);
    const ofScope = SCOPES.find((each) => each === scope) ?? scope;
    return { scope: ofScope, index, label, validator: known, required, negate, params: NO_PARAMS };
  }

  end(digest: string): ScenarioOutline | undefined {
    if (this.#hash.digest('hex') !== digest) return undefined;
    const { key } = JSON.parse(this.#head + this.#rest) as { key: string };
    return { key, digest, rules: this.rules };
  }
}

/**
 * The outline of a scenario from its stored text, piece by piece: the whole text is never in memory. Undefined
 * when it is not the text that the digest names.
 */
export async function outlineOf(
  pieces: AsyncIterable<string>,
  digest: string,
): Promise<ScenarioOutline | undefined> {
  const reader = new OutlineReader();
  for await (const piece of pieces) reader.add(piece);
  return reader.end(digest);
}
