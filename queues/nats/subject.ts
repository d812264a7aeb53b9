import { EVENT_PREFIX, EVENT_VERSION } from '../../src/core/events.js';
import { isPlainObject } from '../../src/core/json.js';
import type { OutgoingEvent } from '../../src/ports/sink.js';

const PLACEHOLDER = /\{([^}]*)\}/g;
const KNOWN = ['type', 'subject'];
const LONGEST_TOKEN = 200;

/** What is wrong with a subject that may hold `{type}` and `{subject}`; they are named in messages alone. */
export function templateProblem(template: string): string | undefined {
  const unknown = [...template.matchAll(PLACEHOLDER)].find(([, name = '']) => !KNOWN.includes(name));
  if (unknown !== undefined) return `has a subject with ${unknown[0]}; allowed: {type}, {subject}`;
  if (/[{}]/.test(template.replace(PLACEHOLDER, ''))) return 'has a subject with a brace that stands alone';
  if (template.split('.')[0]?.includes('{'))
    return 'has a subject that begins with a placeholder; begin it with a name, as in sluice.{type}';
  return undefined;
}

/** `evaluation.passed` of `dev.sluice.evaluation.passed.v1`: several parts of a subject. */
function shortType(type: string): string {
  const start = type.startsWith(EVENT_PREFIX) ? EVENT_PREFIX.length : 0;
  const end = type.endsWith(EVENT_VERSION) ? type.length - EVENT_VERSION.length : type.length;
  return type.slice(start, end).replace(/[^A-Za-z0-9_.-]/g, '_');
}

/** One part of a subject, whatever the text holds. */
const safeToken = (text: string): string =>
  text.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST_TOKEN) || '_';

function subjectOf(json: string): string {
  const event: unknown = JSON.parse(json);
  return isPlainObject(event) && typeof event.subject === 'string' ? event.subject : '';
}

/** The subject of an event. */
export function fillSubject(template: string, event: OutgoingEvent): string {
  return template.replace(PLACEHOLDER, (_, name) =>
    name === 'type' ? shortType(event.type) : safeToken(subjectOf(event.json)),
  );
}

/** The subject that covers whatever the template may become: `sluice.>` of `sluice.{type}`. */
export function coveringSubject(template: string): string {
  const covering: string[] = [];
  for (const token of template.split('.')) {
    if (token.includes('{type}')) return [...covering, '>'].join('.');
    covering.push(token.includes('{') ? '*' : token);
  }
  return covering.join('.');
}
