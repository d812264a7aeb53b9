import { REDACTED } from '../redact.js';

/** Characters of the shortest value that is hidden: shorter ones would tear up other words. */
const SHORTEST = 6;
/** Deepest level that is looked at; what is nested deeper is refused as an answer. */
const MOST_LEVELS = 256;

/** Hides values that are known to be secret, whatever they look like. */
export interface Secrets {
  /** The text with each of them replaced by `[redacted]`. */
  hide(text: string): string;
  /** A JSON value with every text in it so, keys too, and numbers that are one. */
  hideDeep<T>(value: T): T;
}

export const noSecrets: Secrets = { hide: (text) => text, hideDeep: (value) => value };

/** The ways in which a value may turn up: whole, each of its lines, what follows a scheme (`Bearer …`), in JSON. */
function formsOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/);
  const forms = [value, ...lines, ...lines.map((line) => line.replace(/^\s*\S+\s+/, ''))];
  return forms.flatMap((form) => {
    const text = form.trim();
    return text.length < SHORTEST ? [] : [text, JSON.stringify(text).slice(1, -1)];
  });
}

/** Values that were given to a server and must not come back from it; those of less than 6 characters stay. */
export function knownSecrets(values: readonly string[]): Secrets {
  // The longest first, so that one within another leaves nothing of it.
  const forms = [...new Set(values.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  if (forms.length === 0) return noSecrets;
  const all = new Set(forms);
  const pattern = new RegExp(forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'g');
  const hide = (text: string) => text.replace(pattern, REDACTED);
  const deep = (value: unknown, levels: number): unknown => {
    if (typeof value === 'string') return hide(value);
    if (typeof value === 'number') return all.has(String(value)) ? REDACTED : value;
    if (typeof value !== 'object' || value === null || levels === 0) return value;
    if (Array.isArray(value)) return value.map((each) => deep(each, levels - 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [hide(key), deep(each, levels - 1)]),
    );
  };
  return { hide, hideDeep: <T>(value: T) => deep(value, MOST_LEVELS) as T };
}
