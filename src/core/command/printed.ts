import { isPlainObject } from '../json.js';

/**
 * What a command printed: `json`, all of it; `mixed`, a structured return among other lines; `broken`,
 * something like a structured return that is no JSON, or is nested too deeply; `other`, anything else.
 */
export type Printed = { kind: 'json'; value: unknown } | { kind: 'nothing' | 'mixed' | 'broken' | 'other' };

/** Deepest nesting of lists and objects that is taken. */
const MOST_LEVELS = 128;
/** Characters that are looked at to find objects among lines, however often one after the other. */
const MOST_STEPS = 4 * 1024 * 1024;

/** A key `passed` with its value, as JSON, Python or JavaScript would print it. */
const LIKE_RESULT = /["']?\bpassed["']?\s{0,8}:\s{0,8}(?:["']|true|false|null|nan|none|undefined)/i;
const KEY = /"passed"\s{0,8}:/;

/** Where what opens at `start` is closed again; -1 where it is not. */
function endOf(text: string, start: number): number {
  let open = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\n') return -1;
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') open += 1;
    else if (character === '}') {
      open -= 1;
      if (open === 0) return at + 1;
    }
  }
  return -1;
}

function isTooDeep(text: string): boolean {
  let open = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') {
      open += 1;
      if (open > MOST_LEVELS) return true;
    } else if (character === '}' || character === ']') open -= 1;
  }
  return false;
}

type Parsed = { ok: true; value: unknown } | { ok: false };

function parsed(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}

/** Whether an object is a structured return, or means to be one. */
export function isResult(value: unknown): boolean {
  return isPlainObject(value) && Object.hasOwn(value, 'passed');
}

const SPACE = /[ \t\r\ufeff]/;

/** Whether nothing else stands before `at` in its line (`step` -1), or from `at` on (1). */
function isEdge(text: string, at: number, step: 1 | -1): boolean {
  let place = step === 1 ? at : at - 1;
  while (SPACE.test(text[place] ?? '')) place += step;
  return text[place] === undefined || text[place] === '\n';
}

/**
 * Whether a structured return stands at an edge of a line of a text that is not all JSON. Where that is
 * too much to find out, it does: no verdict may rest on what was not looked at.
 */
function holdsResult(text: string): boolean {
  if (!LIKE_RESULT.test(text) && !KEY.test(text)) return false;
  let steps = 0;
  for (let start = text.indexOf('{'); start !== -1; ) {
    const end = endOf(text, start);
    steps += (end === -1 ? text.length : end) - start;
    if (steps > MOST_STEPS) return true;
    // What is never closed goes on to the end.
    const inside = text.slice(start, end === -1 ? undefined : end);
    if (end !== -1 && !inside.includes('passed')) {
      start = text.indexOf('{', end);
      continue;
    }
    const object = parsed(inside);
    if (object.ok) {
      if (isResult(object.value) && (isEdge(text, start, -1) || isEdge(text, end, 1))) return true;
    } else if (isEdge(text, start, -1) && (end === -1 || isEdge(text, end, 1)) && LIKE_RESULT.test(inside))
      return true;
    start = text.indexOf('{', object.ok ? end : start + 1);
  }
  return false;
}

/** Looks at the standard output of a command; linear in its length. */
export function printedBy(stdout: string): Printed {
  const text = stdout.trim();
  if (text === '') return { kind: 'nothing' };
  const all = parsed(text);
  if (all.ok) return isTooDeep(text) ? { kind: 'broken' } : { kind: 'json', value: all.value };
  if (holdsResult(text)) {
    const isAlone = text.startsWith('{') && [-1, text.length].includes(endOf(text, 0));
    return { kind: isAlone ? 'broken' : 'mixed' };
  }
  return { kind: 'other' };
}
