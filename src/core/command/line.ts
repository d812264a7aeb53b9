import type { Json } from '../json.js';
import type { JsonObject, ToolDocument } from '../registry/model.js';
import { type Piece, piecesOf } from './placeholders.js';

/** What fills the placeholders of a command. */
export interface Given {
  args: JsonObject;
  resource: string | null;
  slot: string | null;
}

function givenFor(piece: Exclude<Piece, { kind: 'text' | 'unknown' }>, given: Given): Json | undefined {
  if (piece.kind !== 'argument') return given[piece.kind] ?? undefined;
  return Object.hasOwn(given.args, piece.name) ? given.args[piece.name] : undefined;
}

function textOf(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function filled(piece: Piece, given: Given): string {
  return piece.kind === 'text' || piece.kind === 'unknown' ? piece.text : textOf(givenFor(piece, given));
}

/** Whether all of a part is one placeholder for what is not there. */
function isAbsent(pieces: readonly Piece[], given: Given): boolean {
  const [only, ...others] = pieces;
  if (only === undefined || others.length > 0 || only.kind === 'text' || only.kind === 'unknown')
    return false;
  return givenFor(only, given) === undefined;
}

/**
 * Program and arguments of a call: strings, numbers and booleans as text, all else as JSON. A part that
 * is one placeholder and nothing else goes when it stands for nothing; in a longer part it is empty. The
 * program never goes, and after a script no part does: $2 stays $2 when $1 is absent.
 */
export function commandLine({ command = [], shell = false }: ToolDocument, given: Given): string[] {
  const [first = '', ...rest] = command;
  const parts = rest.map(piecesOf);
  const kept = shell ? parts : parts.filter((pieces) => !isAbsent(pieces, given));
  const texts = kept.map((pieces) => pieces.map((piece) => filled(piece, given)).join(''));
  if (shell) return ['/bin/sh', '-c', first, 'sh', ...texts];
  return [
    piecesOf(first)
      .map((piece) => filled(piece, given))
      .join(''),
    ...texts,
  ];
}
