/**
 * One spelling of line ends (DESIGN 3.2.5): `\r\n`, `\r`, U+2028 and U+2029 become `\n`. Done once per
 * field, before any search; offsets of a match refer to the text that comes out of here.
 */
export function normalizeText(text: string): string {
  return isForeign(text) ? text.replace(FOREIGN_LINE_ENDS, '\n') : text;
}

/** Each look is a search for one character, which costs a tenth of one for a class of them. */
const isForeign = (text: string): boolean =>
  text.includes('\r') || text.includes('\u2028') || text.includes('\u2029');

const FOREIGN_LINE_ENDS = /\r\n?|[\u2028\u2029]/g;
