import { RE2JS } from 're2js';

/** What stands in place of a secret. */
export const REDACTED = '[redacted]';

/** Part of a text that must not leave it: UTF-16 offsets, `end` exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** Finds and replaces secrets; time is linear in the text. */
export interface Redactor {
  /** Spans of secrets in order, never overlapping. */
  spans(text: string): Span[];
  /** The text with every secret replaced by `[redacted]`; a text without any comes back as it is. */
  redact(text: string): string;
}

const KEY =
  '(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)';
const VALUE = `(?:\\[redacted\\]|"(?!\\[redacted\\]")[^"\\n]*"|'(?!\\[redacted\\]')[^'\\n]*'|[^\\s"',;&)}\\]]+)`;

/**
 * Each pattern is a short prefix (group 1, kept) and the secret after it. Those whose secret must
 * be followed by something start only at the beginning of a run, so that none is quadratic.
 */
const PATTERNS: readonly RegExp[] = [
  /()(?:AKIA|ASIA)[A-Z0-9]{16}/g,
  /()gh[pousr]_[A-Za-z0-9]{20,}/g,
  /()github_pat_[A-Za-z0-9_]{20,}/g,
  /()gl(?:pat|ptt|dt|rt|ft|soat|cbt|agent)-[A-Za-z0-9_-]{16,}/g,
  /()xox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /(hooks\.slack\.com\/services\/)[A-Za-z0-9/_-]{10,}/g,
  /()(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{35}|npm_[A-Za-z0-9]{36})/g,
  /()(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g,
  /(authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:[A-Za-z]{1,20} {1,4})?)[^\s"',;\\]+/gi,
  /(bearer\s{1,4})[A-Za-z0-9._~+/=-]{16,}/gi,
  new RegExp(`(${KEY}\\\\?["']?\\s{0,8}[:=]\\s{0,8}\\\\?)${VALUE}`, 'gi'),
  new RegExp(`(--[a-z-]{0,24}${KEY}\\s{1,4})${VALUE}`, 'gi'),
  /(:\/\/[^\s/@:]{0,256}:)[^\s/@]{1,512}(?=@)/g,
];

/**
 * Every pattern above needs one of these; most texts have none. Alternatives of one length and
 * one case, on a text in lower case, are several times faster than one expression for all.
 */
const WORDS = /token|secre|passw|phras|beare|crede|autho|hooks|[ise][_-]key|pikey|sskey|tekey/;
const PREFIXES: readonly RegExp[] = [
  /A[KS]IA|AIza|gh[pousr]_|npm_|hub_|xox./,
  /gl[a-z]{2,5}-/,
  /eyJ|(?<![A-Za-z0-9])sk-/,
];
const LOGIN = /:\/\/[^\s/@:]{0,256}:[^\s/@]{1,512}@/;

/** Shortest text that can hold a secret and what announces it. */
const SHORTEST = 6;

function mayHoldSecret(text: string): boolean {
  if (text.length < SHORTEST) return false;
  if (WORDS.test(text.toLowerCase())) return true;
  if (text.includes('@') && LOGIN.test(text)) return true;
  return PREFIXES.some((prefix) => prefix.test(text));
}

const BEGIN = '-----BEGIN ';
const BEGIN_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const END_KEY = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const KEY_BODY = /[A-Za-z0-9+/=\s\\]*/y;

function matchEnd(sticky: RegExp, text: string, at: number): number | undefined {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : undefined;
}

/** Private key blocks; one that is cut off ends with its last line of base64. */
function keyBlocks(text: string): Span[] {
  const found: Span[] = [];
  let at = text.indexOf(BEGIN);
  while (at !== -1) {
    const body = matchEnd(BEGIN_KEY, text, at);
    let next = at + BEGIN.length;
    if (body !== undefined) {
      const dashes = text.indexOf('-----', body);
      const closed = dashes === -1 ? undefined : matchEnd(END_KEY, text, dashes);
      next = closed ?? matchEnd(KEY_BODY, text, body) ?? body;
      found.push({ start: at, end: next });
    }
    at = text.indexOf(BEGIN, next);
  }
  return found;
}

function patternSpans(text: string, pattern: RegExp): Span[] {
  const found: Span[] = [];
  for (const match of text.matchAll(pattern)) {
    const start = match.index + (match[1] ?? '').length;
    const end = match.index + match[0].length;
    if (end > start) found.push({ start, end });
  }
  return found;
}

function extraSpans(text: string, pattern: RE2JS): Span[] {
  const found: Span[] = [];
  const matcher = pattern.matcher(text);
  while (matcher.find()) {
    if (matcher.end() > matcher.start()) found.push({ start: matcher.start(), end: matcher.end() });
  }
  return found;
}

function merged(spans: Span[]): Span[] {
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  const result: Span[] = [];
  for (const span of spans) {
    const last = result.at(-1);
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else result.push({ ...span });
  }
  return result;
}

/** `text` from `start` to `end`, with the parts of `spans` that fall inside replaced. */
export function withoutSpans(text: string, spans: readonly Span[], start = 0, end = text.length): string {
  let result = '';
  let at = start;
  for (const span of spans) {
    if (span.end <= at || span.start >= end) continue;
    result += text.slice(at, Math.max(at, span.start)) + REDACTED;
    at = Math.min(span.end, end);
  }
  return result + text.slice(at, end);
}

/**
 * A redactor of the common secrets and of `extra` patterns (RE2 dialect, case-sensitive unless
 * they say `(?i)`). Throws RE2JS's syntax exception for a bad extra pattern. DESIGN 6.6.
 */
export function createRedactor(extra: readonly string[] = []): Redactor {
  const extras = extra.map((pattern) => RE2JS.compile(pattern));
  const spans = (text: string): Span[] => {
    const found: Span[] = [];
    if (mayHoldSecret(text)) for (const pattern of PATTERNS) found.push(...patternSpans(text, pattern));
    if (text.includes(BEGIN)) found.push(...keyBlocks(text));
    for (const pattern of extras) found.push(...extraSpans(text, pattern));
    return found.length > 1 ? merged(found) : found;
  };
  const redact = (text: string): string => {
    const found = spans(text);
    return found.length === 0 ? text : withoutSpans(text, found);
  };
  return { spans, redact };
}

/** Redacts the common secrets only. */
export const defaultRedactor: Redactor = createRedactor();

/** The text with common secrets replaced by `[redacted]` (DESIGN 6.6). */
export function redact(text: string): string {
  return defaultRedactor.redact(text);
}

const SECRET_KEY = new RegExp(`${KEY}s?$`, 'i');
const MAX_DEPTH = 64;

/**
 * A JSON value with every string in it redacted, keys too, and strings whole that lie under a key that
 * names a secret, however deep. Numbers stay: most that are called tokens are counts. What lies
 * deeper than 64 levels is left out.
 */
export function redactDeep(value: unknown, redactor: Redactor = defaultRedactor): unknown {
  return deep(value, redactor, false, 0);
}

function deep(value: unknown, redactor: Redactor, isSecret: boolean, depth: number): unknown {
  if (typeof value === 'string') return isSecret && value !== '' ? REDACTED : redactor.redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[left out: nested too deep]';
  if (Array.isArray(value)) return value.map((item) => deep(item, redactor, isSecret, depth + 1));
  const entries = Object.entries(value).map(([key, item]) => [
    redactor.redact(key),
    deep(item, redactor, isSecret || SECRET_KEY.test(key), depth + 1),
  ]);
  return Object.fromEntries(entries);
}
