import { RunningDigest } from '../digest.js';
import { type Rule, SCOPES, type Scope } from '../scenario/model.js';

const NO_PARAMS = {};
/** Bits of a rule's mark; above them the place of its validator. */
const [REQUIRED, NEGATE, SCOPE, VALIDATOR] = [1, 2, 2, 4];

/**
 * A scenario without the parameters of its rules, in little memory: what a decision needs of it. The rules are
 * made when they are asked for.
 */
export class ScenarioOutline {
  readonly #labels: string[] = [];
  readonly #indexes: number[] = [];
  readonly #marks: number[] = [];
  readonly #validators: string[] = [];

  get size(): number {
    return this.#labels.length;
  }

  add({ scope, index, label, validator, required, negate }: Rule): void {
    let place = this.#validators.indexOf(validator);
    if (place < 0) place = this.#validators.push(validator) - 1;
    this.#labels.push(label);
    this.#indexes.push(index);
    this.#marks.push(
      (required ? REQUIRED : 0) |
        (negate ? NEGATE : 0) |
        (SCOPES.indexOf(scope) << SCOPE) |
        (place << VALIDATOR),
    );
  }

  /** Rules `from` to `to` - 1. */
  rules(from: number, to: number): Rule[] {
    return this.#marks.slice(from, to).map((mark, i) => this.#rule(mark, from + i));
  }

  #rule(mark: number, at: number): Rule {
    return {
      scope: SCOPES[(mark >> SCOPE) & 3] as Scope,
      index: this.#indexes[at] as number,
      label: this.#labels[at] as string,
      validator: this.#validators[mark >> VALIDATOR] as string,
      required: (mark & REQUIRED) !== 0,
      negate: (mark & NEGATE) !== 0,
      params: NO_PARAMS,
    };
  }

  /** All rules for the gates alone: those that are not `named` share one for all of their kind. */
  kinds(isNamed: (at: number) => boolean): Rule[] {
    const kinds = new Map<number, Rule>();
    return this.#marks.map((mark, at) => {
      if (isNamed(at)) return this.#rule(mark, at);
      const kind = kinds.get(mark) ?? this.#rule(mark, at);
      kinds.set(mark, kind);
      return kind;
    });
  }
}

/** An outline with the scenario's name. */
export interface NamedOutline {
  key: string;
  digest: string;
  outline: ScenarioOutline;
}

const RULES = '"rules":[';

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
  readonly #digest = new RunningDigest();
  readonly #outline = new ScenarioOutline();
  #head = '';
  #rest = '';
  #state: 'head' | 'rules' | 'tail' = 'head';

  add(piece: string): void {
    this.#digest.add(piece);
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
        this.#outline.add(JSON.parse(this.#rest.slice(from, to)) as Rule);
        from = to;
      }
    }
    this.#rest = this.#rest.slice(from);
  }

  end(digest: string): NamedOutline | undefined {
    if (this.#digest.end() !== digest) return undefined;
    const { key } = JSON.parse(this.#head + this.#rest) as { key: string };
    return { key, digest, outline: this.#outline };
  }
}

/**
 * The outline of a scenario from its stored text, piece by piece: the whole text is never in memory. Undefined
 * when it is not the text that the digest names.
 */
export async function outlineOf(
  pieces: AsyncIterable<string>,
  digest: string,
): Promise<NamedOutline | undefined> {
  const reader = new OutlineReader();
  for await (const piece of pieces) reader.add(piece);
  return reader.end(digest);
}
