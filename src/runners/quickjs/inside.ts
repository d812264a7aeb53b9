/** Bytes of JSON that a function may return. */
export const MOST_BYTES = 1024 * 1024;
/** Lists and objects inside each other that a returned value may have. */
const MOST_DEPTH = 128;

/** First character of what the code below returns: what the rest of it is. */
export const SIGNS = { value: 'v', threw: 't', syntax: 's', unfit: 'u', malformed: 'm' } as const;

/**
 * What runs around a user's function, in the interpreter with it: an expression that makes
 * `(source, args, only) => text`. It takes what it needs of the globals before the source can change
 * them, and takes away what would make a function depend on more than its arguments. The returned
 * value is written out here, getters and proxies included, so that nothing of it is looked at outside.
 */
export const INSIDE = `(() => {
'use strict';
const { parse, stringify } = JSON;
const { apply, getPrototypeOf } = Reflect;
const { keys } = Object;
const { isArray } = Array;
const { isFinite } = Number;
const run = eval;
const plain = Object.prototype;
const tagOf = Object.prototype.toString;
const textOf = Function.prototype.toString;
const globals = globalThis;

function refuse(message) {
  return function () { throw new Error(message); };
}
globals.Date = refuse('there is no clock here: what depends on the time must be given as data');
globals.Date.now = globals.Date.parse = globals.Date.UTC = globals.Date;
Math.random = refuse('Math.random is not available: the same arguments must give the same value');

class Malformed { constructor(what, path) { this.what = what; this.path = path; } }

function kindOf(value) {
  const tag = apply(tagOf, value, []).slice(8, -1);
  if (tag === 'Promise') return 'a promise: the function must return its value, not a promise of it';
  const maker = value.constructor;
  const name = tag === 'Object' && typeof maker === 'function' ? maker.name : tag;
  return 'no plain object but ' + (/^[AEIOU]/.test(name) ? 'an ' : 'a ') + name;
}

function shown(value) {
  if (typeof value === 'bigint') return 'a BigInt';
  if (typeof value === 'number' || value === undefined) return String(value);
  if (typeof value === 'object') return 'an object';
  return 'a ' + typeof value;
}

const open = [];
let size = 0;

function grown(text) {
  size += text.length;
  if (size > ${MOST_BYTES}) throw new Malformed('more than 1 MiB of JSON', '');
  return text;
}

function written(value, path) {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || isFinite(value))
    return grown(stringify(value));
  if (typeof value !== 'object') throw new Malformed(shown(value), path);
  if (open.length >= ${MOST_DEPTH}) throw new Malformed('lists or objects more than ${MOST_DEPTH} levels deep', '');
  for (let i = 0; i < open.length; i += 1)
    if (open[i] === value) throw new Malformed('a list or object that contains itself', path);
  open[open.length] = value;
  const text = isArray(value) ? list(value, path) : object(value, path);
  open.length -= 1;
  return text;
}

function list(value, path) {
  let text = '';
  for (let i = 0; i < value.length; i += 1)
    text += (i === 0 ? '' : grown(',')) + written(value[i], path + '[' + i + ']');
  return '[' + text + ']';
}

function object(value, path) {
  const made = getPrototypeOf(value);
  if (made !== plain && made !== null) throw new Malformed(kindOf(value), path);
  let text = '';
  const names = keys(value);
  for (let i = 0; i < names.length; i += 1) {
    const item = value[names[i]];
    if (item === undefined) continue;
    const name = grown(stringify(names[i]) + ':,').slice(0, -1);
    text += (text === '' ? '' : ',') + name + written(item, path === '' ? names[i] : path + '.' + names[i]);
  }
  return '{' + text + '}';
}

function described(error) {
  try {
    if (error instanceof Error || apply(tagOf, error, []) === '[object Error]') {
      const message = error.message === '' ? '' : ': ' + error.message;
      return stringify([String(error.name) + message, String(error.stack).slice(0, 4096)]);
    }
    const text = typeof error === 'string' ? error : stringify(error);
    return stringify([(typeof text === 'string' ? text : String(error)).slice(0, 4096), '']);
  } catch {
    return stringify(['something that cannot be shown', '']);
  }
}

function unfit(made) {
  if (typeof made !== 'function') return 'it is ' + (made === null ? 'null' : shown(made));
  const tag = apply(tagOf, made, []);
  if (tag === '[object AsyncFunction]' || tag === '[object AsyncGeneratorFunction]')
    return 'it is an async function: it must return its value, not a promise of it';
  if (tag === '[object GeneratorFunction]') return 'it is a generator: it must return its value';
  if (apply(textOf, made, []).slice(0, 5) === 'class') return 'it is a class';
  return '';
}

return (source, args, only) => {
  let made;
  let stage = '${SIGNS.syntax}';
  try {
    made = run('"use strict";[' + source + '\\n]');
    const problem = made.length === 1 ? unfit(made[0]) : 'it is not one expression';
    if (problem !== '') return '${SIGNS.unfit}' + problem;
    made = made[0];
    if (only) return '${SIGNS.value}';
    const given = parse(args);
    stage = '${SIGNS.threw}';
    const value = apply(made, undefined, given);
    return '${SIGNS.value}' + written(value, '');
  } catch (error) {
    if (error instanceof Malformed) return '${SIGNS.malformed}' + stringify([error.what, error.path]);
    return stage + described(error);
  }
};
})()`;
