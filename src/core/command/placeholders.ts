/** Part of a command: text as it stands, or what a placeholder is filled with. */
export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'argument'; name: string }
  | { kind: 'resource' | 'slot' }
  /** Braces that name nothing which can be filled in; `text` is all of it. */
  | { kind: 'unknown'; text: string };

/** What begins a placeholder. */
export const OPENING = '${';
const written = (inside: string): string => `${OPENING}${inside}}`;

/** How the placeholder of an argument is written. */
export const argumentPlaceholder = (name: string): string => written(`args.${name}`);
/** Placeholders of one name each. */
export const NAMED_PLACEHOLDERS = ['resource', 'slot'].map(written);
export const PLACEHOLDERS = [argumentPlaceholder('NAME'), ...NAMED_PLACEHOLDERS];

const MARK = /\$\$\{|\$\{([^}]*)(\}?)/g;

function pieceOf(whole: string, inside: string | undefined, end: string | undefined): Piece {
  if (inside === undefined) return { kind: 'text', text: OPENING };
  if (end === '') return { kind: 'unknown', text: whole };
  if (inside === 'resource' || inside === 'slot') return { kind: inside };
  const name = inside.startsWith('args.') ? inside.slice('args.'.length) : '';
  return name === '' ? { kind: 'unknown', text: whole } : { kind: 'argument', name };
}

/** The pieces of one part of a command; `$${` stands for `${` itself. */
export function piecesOf(part: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: whole, 1: inside, 2: end, index } of part.matchAll(MARK)) {
    if (index > from) pieces.push({ kind: 'text', text: part.slice(from, index) });
    pieces.push(pieceOf(whole, inside, end));
    from = index + whole.length;
  }
  if (from < part.length) pieces.push({ kind: 'text', text: part.slice(from) });
  return pieces;
}

/** What would be a placeholder in a script, where none is filled in: the shell would read the value as code. */
export function placeholderInScript(script: string): string | undefined {
  return /(?<!\$)\$\{(?:args\.[^}]*|resource|slot)\}/.exec(script)?.[0];
}
