import { childPath } from './scenario/json-scan.js';

/** `tasks[0].commands`, and `["odd key"]` where a key is no plain word. Empty for the whole document. */
export function jsonPath(parts: readonly PropertyKey[]): string {
  return parts.reduce<string>(
    (path, part) => childPath(path, typeof part === 'number' ? part : String(part)),
    '',
  );
}

/** One path after another: `[3]` and `tasks[0]` give `[3].tasks[0]`. */
export function joinPath(outer: string, inner: string): string {
  if (outer === '' || inner === '') return outer + inner;
  return inner.startsWith('[') ? outer + inner : `${outer}.${inner}`;
}
