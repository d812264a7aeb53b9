import { isPlainObject } from './json.js';
import { type Problem, show } from './problem.js';

/** Most bytes of one snapshot as JSON: code takes 8 MiB, its other arguments included. */
export const MOST_SNAPSHOT_BYTES = 7 * 1024 * 1024;
/** Levels of lists and objects in a snapshot. */
const MOST_DEPTH = 256;

type Found = Pick<Problem, 'path' | 'message' | 'found'>;

function isRecord(value: unknown): value is Record<string, unknown> {
  if (!isPlainObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object') return typeof value;
  return `an object of class ${value?.constructor?.name ?? 'unknown'}`;
}

function leafProblem(value: unknown): string | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return undefined;
  if (typeof value !== 'number') return `is ${nameOf(value)}, which JSON does not carry as it is`;
  if (!Number.isFinite(value)) return 'is no finite number (too large for one, or NaN)';
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return 'lies beyond 2^53, where whole numbers cannot be told apart; give it as a string';
  return undefined;
}

/**
 * What keeps a value from being a snapshot: two that differ must never have one digest, or what is
 * applied might not be what was validated (DESIGN 4.7, 4.8). Undefined when nothing does. Keys that are
 * undefined count as absent. The first problem is told; paths are relative to the value.
 */
export function snapshotProblem(value: unknown, path = '', depth = 0): Found | undefined {
  if (depth > MOST_DEPTH) return { path, message: `is nested more than ${MOST_DEPTH} deep` };
  if (Array.isArray(value)) {
    for (let n = 0; n < value.length; n += 1) {
      const problem = snapshotProblem(value[n], `${path}[${n}]`, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  if (isRecord(value)) {
    for (const [key, each] of Object.entries(value)) {
      if (each === undefined) continue;
      const problem = snapshotProblem(each, path === '' ? key : `${path}.${key}`, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const message = leafProblem(value);
  return message === undefined ? undefined : { path, message, found: show(value) };
}
