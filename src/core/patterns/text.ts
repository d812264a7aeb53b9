/**
 * One spelling of line ends (DESIGN 3.2.5): `\r\n`, `\r`, U+2028 and U+2029 become `\n`. Done once per
 * field, before any search; offsets of a match refer to the text that comes out of here.
 */
export function normalizeText(text: string): string {
  return FOREIGN_LINE_END.test(text) ? text.replace(FOREIGN_LINE_ENDS, '\n') : text;
}

const FOREIGN_LINE_END = /[\r\u2028\u2029]/;
const FOREIGN_LINE_ENDS = /\r\n?|[\u2028\u2029]/g;
