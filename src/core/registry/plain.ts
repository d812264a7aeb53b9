import type { Json } from '../json.js';
import { show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import type { CodedProblem, RegistryCode } from './codes.js';

/** Largest document, in characters of JSON, and its deepest nesting. */
const MOST_CHARACTERS = 256 * 1024;
const MOST_LEVELS = 64;
/** The key of a document whose characters are counted apart: what files may hold has a limit of its own. */
const FILES = 'files';
const MOST_FILE_CHARACTERS = 8 * 1024 * 1024;

/** A value that JSON can carry, as a copy of its own; or why there is none. */
type Plain = { ok: true; value: Json } | { ok: false; problems: CodedProblem[] };

/** The document is too large or too deep: there is no point in reading on. */
class Beyond extends Error {
  constructor(
    readonly code: RegistryCode,
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * A copy of what was given in which nothing can surprise: plain objects, lists, texts, finite
 * numbers, within 256 KiB and 64 levels. Keys that are undefined are left out. What stands under `files`
 * does not count as long as it may be 1 MiB of files.
 */
export function plainCopy(given: unknown): Plain {
  const copier = new Copier();
  try {
    const value = copier.copy(given, '', 0);
    return copier.problems.length === 0 ? { ok: true, value } : { ok: false, problems: copier.problems };
  } catch (error) {
    if (error instanceof Beyond) {
      const { code, path, message } = error;
      return { ok: false, problems: [...copier.problems, { code, path, message }] };
    }
    // A getter or a proxy that throws.
    return { ok: false, problems: [{ code: 'NOT_JSON', path: '', message: 'cannot be read as JSON' }] };
  }
}

class Copier {
  readonly problems: CodedProblem[] = [];
  #characters = 0;

  copy(value: unknown, path: string, level: number): Json {
    if (level > MOST_LEVELS)
      throw new Beyond('TOO_DEEP', path, `is nested deeper than ${MOST_LEVELS} levels`);
    if (value === null || typeof value === 'boolean') return this.#counted(value, 4);
    if (typeof value === 'string') return this.#counted(value, JSON.stringify(value).length);
    if (typeof value === 'number' && Number.isFinite(value)) return this.#counted(value, 1);
    if (Array.isArray(value)) {
      this.#count(2);
      return Array.from(value, (each: unknown, n) => this.copy(each, childPath(path, n), level + 1));
    }
    if (isPlain(value)) return this.#object(value, path, level);
    this.problems.push({
      code: 'NOT_JSON',
      path,
      message: 'is nothing that JSON can carry',
      found: shown(value),
    });
    return null;
  }

  #object(value: object, path: string, level: number): Json {
    this.#count(2);
    const entries: [string, Json][] = [];
    for (const [key, each] of Object.entries(value)) {
      this.#count(key.length + 4);
      const at = childPath(path, key);
      if (key === '__proto__') {
        this.problems.push({ code: 'FORBIDDEN_KEY', path: at, message: 'is not allowed as a key' });
      } else if (each !== undefined)
        entries.push([key, at === FILES ? this.#files(each) : this.copy(each, at, level + 1)]);
    }
    return Object.fromEntries(entries);
  }

  #files(value: unknown): Json {
    const before = this.#characters;
    this.#characters = MOST_CHARACTERS - MOST_FILE_CHARACTERS;
    try {
      return this.copy(value, FILES, 1);
    } catch (error) {
      if (!(error instanceof Beyond) || error.code !== 'TOO_LARGE') throw error;
      throw new Beyond('TOO_LARGE', FILES, 'must hold at most 1 MiB together');
    } finally {
      this.#characters = before;
    }
  }

  #counted<T extends Json>(value: T, characters: number): T {
    this.#count(characters);
    return value;
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MOST_CHARACTERS) throw new Beyond('TOO_LARGE', '', 'is larger than 256 KiB');
  }
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function shown(value: unknown): string {
  if (value instanceof Date) return 'a date; write it in quotes';
  return typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol'
    ? `a ${typeof value}`
    : typeof value === 'bigint'
      ? `${value}n`
      : show(value);
}
