/** Control characters, non-characters and halves of surrogate pairs, which XML 1.0 cannot carry at all. */
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

/** Text content. */
export function xmlText(text: string): string {
  return text.replace(ILLEGAL, '').replace(/[&<>\r]/g, (char) => ENTITIES[char] ?? '');
}

/** Attributes with a leading space each, in the order given. */
export function xmlAttributes(attributes: Readonly<Record<string, string | number>>): string {
  let text = '';
  for (const [name, value] of Object.entries(attributes)) {
    const escaped = String(value)
      .replace(ILLEGAL, '')
      .replace(/[&<>"\n\r\t]/g, (char) => ENTITIES[char] ?? '');
    text += ` ${name}="${escaped}"`;
  }
  return text;
}
