/** Bytes of JSON that a function may return. */
export const MOST_BYTES = 1024 * 1024;
/** Lists and objects inside each other that a returned value may have. */
const MOST_DEPTH = 128;

/** First character of what the code below returns: what the rest of it is. */
export const SIGNS = { value: 'v', threw: 't', syntax: 's', malformed: 'm' } as const;

/**
 * What runs around a user's function, in the interpreter with it: an expression that makes
 * `(source, args, only, words) => text`, where `only` asks for no call and `words` is {@link WORDS}. It
 * takes what it needs of the globals before the source can change them, and takes away what would make
 * a function depend on more than its arguments. The returned value is written out here, getters and
 * proxies included, so that nothing of it is looked at outside.
 *
 * QuickJS reads it for every call, at a quarter of a microsecond a character: what only failures
 * need stands in `WORDS`.
 */
export const INSIDE = `(() => {
'use strict';
const { parse, stringify } = JSON, { apply, getPrototypeOf } = Reflect, { keys } = Object;
const { isArray } = Array, { isFinite } = Number, plain = Object.prototype, run = eval;
const absent = (why) => function () { throw new Error(why); };
const clock = globalThis.Date = absent('there is no clock here: what depends on the time must be given as data');
clock.now = clock.parse = clock.UTC = clock;
Math.random = absent('Math.random is not available: the same arguments must give the same value');
const open = [];
let size = 0, refusal = {};
function refuse(value, path, why) {
  refusal = { value, path, why };
  throw refusal;
}
function grown(text) {
  size += text.length;
  return size > ${MOST_BYTES} ? refuse(0, '', 'more than 1 MiB of JSON') : text;
}
function written(value, path) {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || isFinite(value))
    return grown(stringify(value));
  if (typeof value !== 'object') refuse(value, path);
  const depth = open.length;
  if (depth >= ${MOST_DEPTH}) refuse(0, '', 'lists or objects more than ${MOST_DEPTH} levels deep');
  for (let i = 0; i < depth; i += 1) if (open[i] === value) refuse(0, path, 'what contains itself');
  open[depth] = value;
  let text = '';
  if (isArray(value)) {
    for (let i = 0; i < value.length; i += 1)
      text += (i ? grown(',') : '') + written(value[i], path + '[' + i + ']');
    text = '[' + text + ']';
  } else {
    const kind = getPrototypeOf(value);
    if (kind !== plain && kind !== null) refuse(value, path);
    const names = keys(value);
    for (let i = 0; i < names.length; i += 1) {
      const name = names[i], item = value[name];
      if (item === undefined) continue;
      text += (text ? grown(',') : '') + grown(stringify(name)) + ':' + written(item, path ? path + '.' + name : name);
    }
    text = '{' + text + '}';
  }
  open.length = depth;
  return text;
}
return (source, args, only, words) => {
  let sign = '${SIGNS.syntax}';
  try {
    const made = run('"use strict";[' + source + '\\n]');
    const problem = made.length === 1 && typeof made[0] === 'function' && !only ? '' : run(words).unfit(made);
    if (problem) return sign + stringify([problem, '']);
    if (only) return '${SIGNS.value}';
    const given = parse(args);
    sign = '${SIGNS.threw}';
    const value = apply(made[0], undefined, given);
    return '${SIGNS.value}' + written(value, '');
  } catch (error) {
    const { described, refused } = run(words);
    return error === refusal ? '${SIGNS.malformed}' + stringify(refused(error)) : sign + stringify(described(error, sign, source));
  }
};
})()`;

/** What failures are told with: an expression that makes `{ unfit, described, refused }`. */
export const WORDS = `(() => {
'use strict';
const tag = (value) => Object.prototype.toString.call(value).slice(8, -1);

function shown(value) {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  if (typeof value === 'bigint') return 'a BigInt';
  return (typeof value === 'object' ? 'an ' : 'a ') + typeof value;
}

function unfit(made) {
  if (made.length !== 1) return 'it is not one expression';
  if (typeof made[0] !== 'function') return 'it is ' + shown(made[0]);
  const kind = tag(made[0]);
  if (kind.slice(0, 5) === 'Async') return 'it is an async function: it must return its value, not a promise of it';
  if (kind === 'GeneratorFunction') return 'it is a generator: it must return its value';
  return Function.prototype.toString.call(made[0]).slice(0, 5) === 'class' ? 'it is a class' : '';
}

/** Where a source could not be read; what stands around it is not its author's. */
function unread(error, source) {
  const lineOf = (each) => Number((/<input>:(\\d+)/.exec(each.stack) || [])[1]);
  const lines = source.split('\\n').length;
  if (!(lineOf(error) > lines)) return error;
  try {
    (0, eval)('"use strict";(' + source + '\\n)');
  } catch (other) {
    if (lineOf(other) <= lines) return other;
  }
  const last = source.trimEnd().split('\\n').length;
  return { name: error.name, message: 'unexpected end of the source', stack: '<input>:' + last };
}

function told(error, sign, source) {
  return sign === '${SIGNS.syntax}' && error instanceof SyntaxError ? unread(error, source) : error;
}

function described(thrown, sign, source) {
  try {
    const error = told(thrown, sign, source);
    if (error !== thrown || error instanceof Error || tag(error) === 'Error') {
      const message = error.message === '' ? '' : ': ' + error.message;
      return [String(error.name) + message, String(error.stack).slice(0, 4096)];
    }
    const text = typeof error === 'string' ? error : JSON.stringify(error);
    return [(typeof text === 'string' ? text : String(error)).slice(0, 4096), ''];
  } catch {
    return ['something that cannot be shown', ''];
  }
}

function kindOf(value) {
  const kind = tag(value);
  if (kind === 'Promise') return 'a promise: the function must return its value, not a promise of it';
  const maker = value.constructor;
  const name = kind === 'Object' && typeof maker === 'function' ? maker.name : kind;
  return 'no plain object but ' + (/^[AEIOU]/.test(name) ? 'an ' : 'a ') + name;
}

function refused({ value, path, why }) {
  const what = why === undefined ? (typeof value === 'object' ? kindOf(value) : shown(value)) : why;
  return [what, path];
}

return { unfit, described, refused };
})()`;
