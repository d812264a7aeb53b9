/**
 * Variables as a YAML file for `--extra-vars @…`. What the run says is evidence: each of its strings is
 * `!unsafe`, so that Ansible evaluates no template in it. Those of the rule win.
 */
export function varsFile(
  rule: Readonly<Record<string, unknown>>,
  run: Readonly<Record<string, unknown>>,
): string {
  const lines = [
    ...Object.entries(run)
      .filter(([name]) => !Object.hasOwn(rule, name))
      .map((entry) => line(entry, true)),
    ...Object.entries(rule).map((entry) => line(entry, false)),
  ];
  return lines.length === 0 ? '{}\n' : `${lines.join('\n')}\n`;
}

/** `?` before a key lets it be longer than the 1,024 characters that YAML allows otherwise. */
function line([name, value]: [string, unknown], unsafe: boolean): string {
  return `? ${quoted(name)}\n: ${yaml(value, unsafe)}`;
}

function yaml(value: unknown, unsafe: boolean): string {
  if (typeof value === 'string') return unsafe ? `!unsafe ${quoted(value)}` : quoted(value);
  if (Array.isArray(value)) return `[${value.map((item) => yaml(item, unsafe)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => `? ${quoted(key)} : ${yaml(item, unsafe)}`);
    return `{${entries.join(', ')}}`;
  }
  return typeof value === 'number' ? numeral(value) : value === undefined ? 'null' : JSON.stringify(value);
}

/** YAML 1.1 takes `1e21` for a string: a float has a point and a signed exponent there. */
function numeral(value: number): string {
  const text = JSON.stringify(value);
  const [digits = '', exponent] = text.split('e');
  if (exponent === undefined) return text;
  return `${digits.includes('.') ? digits : `${digits}.0`}e${exponent}`;
}

const SPECIAL = /[^ !#-[\]-~]/gu;
const REPLACEMENT = 0xfffd;

/** In double quotes, with escapes for all that is not printable ASCII, which YAML may fold or refuse. */
function quoted(text: string): string {
  const escaped = text.replace(SPECIAL, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const half = code >= 0xd800 && code <= 0xdfff;
    return `\\U${(half ? REPLACEMENT : code).toString(16).padStart(8, '0')}`;
  });
  return `"${escaped}"`;
}
