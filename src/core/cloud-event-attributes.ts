import { isPlainObject } from './json.js';
import { type Problem, show } from './problem.js';
import { childPath } from './scenario/json-scan.js';

/** UTF-16 units of an attribute: `id` and `source` stand in dead letters and events. */
const MOST_ATTRIBUTE = 2048;

const NAME = /^[a-z0-9]+$/;
/** What the type system of CloudEvents keeps out of strings. */
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}|\p{Noncharacter_Code_Point}/u;
const URI_REFERENCE = /^(?:[!#$&-;=?-[\]_a-z~]|%[0-9a-f]{2})+$/i;
const URI = /^[a-z][a-z0-9+.-]*:/i;
const TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const MEDIA_TYPE = /^[^\s/;,]+\/[^\s/;,]+(?:\s*;.*)?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const DATA_KEYS: ReadonlySet<string> = new Set(['data', 'data_base64']);

function timeProblem(text: string): string | undefined {
  const isTime = TIME.test(text) && Number.isFinite(Date.parse(text));
  return isTime ? undefined : 'must be a time as in RFC 3339, such as 2030-01-31T12:00:00Z';
}

const uriReferenceProblem = (text: string) =>
  URI_REFERENCE.test(text) ? undefined : 'must be a URI reference';

/** What the attributes of the specification have to be besides texts that are not empty. */
const FORMATS: Readonly<Record<string, ((text: string) => string | undefined) | undefined>> = {
  specversion: undefined,
  id: undefined,
  source: uriReferenceProblem,
  type: undefined,
  subject: undefined,
  time: timeProblem,
  datacontenttype: (text) => (MEDIA_TYPE.test(text) ? undefined : 'must be a media type'),
  dataschema: (text) => (URI.test(text) ? uriReferenceProblem(text) : 'must be an absolute URI'),
};

const REQUIRED = ['specversion', 'id', 'source', 'type'] as const;

/** What is wrong with a text in an attribute. */
function textProblem(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  if (text.length > MOST_ATTRIBUTE) return `must have at most ${MOST_ATTRIBUTE} characters`;
  return FORBIDDEN.test(text) ? 'must not hold control characters or broken Unicode' : undefined;
}

function attributeProblem(name: string, value: unknown): Omit<Problem, 'path'> | undefined {
  if (typeof value !== 'string') return { message: 'must be a string', found: show(value) };
  const message = textProblem(value) ?? FORMATS[name]?.(value);
  if (message !== undefined) return { message, found: show(value) };
  if (name !== 'specversion' || value === '1.0') return undefined;
  const unknown = 'is not a version of CloudEvents that is known here';
  return { code: 'UNSUPPORTED_VERSION', message: unknown, found: show(value), allowed: ['1.0'] };
}

function extensionProblem(name: string, value: unknown): Omit<Problem, 'path'> | undefined {
  if (!NAME.test(name))
    return { message: 'is no name of an attribute: lower-case letters and digits alone', found: show(name) };
  if (typeof value === 'string') {
    // An extension may be empty.
    const message = value === '' ? undefined : textProblem(value);
    return message === undefined ? undefined : { message, found: show(value) };
  }
  if (typeof value === 'boolean') return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 31) return undefined;
  return { message: 'must be a string, a whole number of 32 bits, true or false', found: show(value) };
}

function dataProblems(event: Record<string, unknown>, at: string): Problem[] {
  if (!Object.hasOwn(event, 'data_base64')) return [];
  const path = childPath(at, 'data_base64');
  if (Object.hasOwn(event, 'data')) return [{ path, message: 'stands beside data; only one of them may' }];
  const base64 = event.data_base64;
  if (typeof base64 === 'string' && BASE64.test(base64)) return [];
  return [{ path, message: 'must be a string in base64', found: show(base64) }];
}

/**
 * Everything that makes a value no CloudEvent 1.0 in JSON format; `at` is its path in the message. A
 * null stands for an attribute that is not there.
 */
export function eventProblems(value: unknown, at: string): Problem[] {
  if (!isPlainObject(value)) return [{ path: at, message: 'must be an object', found: show(value) }];
  const problems: Problem[] = [];
  for (const name of REQUIRED) {
    if (value[name] === undefined || value[name] === null)
      problems.push({ path: childPath(at, name), message: 'is missing' });
  }
  for (const [name, attribute] of Object.entries(value)) {
    if (attribute === null || DATA_KEYS.has(name)) continue;
    const found = Object.hasOwn(FORMATS, name)
      ? attributeProblem(name, attribute)
      : extensionProblem(name, attribute);
    if (found !== undefined) problems.push({ path: childPath(at, name), ...found });
  }
  return [...problems, ...dataProblems(value, at)];
}

/** Attributes that the specification names: what else there is, is an extension. */
export const isExtension = (name: string): boolean => !Object.hasOwn(FORMATS, name) && !DATA_KEYS.has(name);
