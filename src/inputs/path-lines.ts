import { isMap, isNode, isScalar, isSeq } from 'yaml';
import { isPlainObject } from '../core/json.js';
import { childPath, linesOf } from '../core/scenario/json-scan.js';

/** Line, from 1, of each path of a text; that of its key where there is one. */
export type PathLines = ReadonlyMap<string, number>;

/** Lines of a YAML document's paths; what an alias stands for has those of its anchor's place alone. */
export function yamlPathLines(contents: unknown, lineOf: (offset: number) => number): PathLines {
  const lines = new Map<string, number>();
  const note = (path: string, node: unknown) => {
    if (isNode(node) && node.range) lines.set(path, lineOf(node.range[0]));
  };
  const walk = (node: unknown, path: string): void => {
    if (isMap(node))
      for (const { key, value } of node.items) {
        if (!isScalar(key)) continue;
        const at = childPath(path, String(key.value));
        note(at, key);
        walk(value, at);
      }
    else if (isSeq(node))
      for (const [n, item] of node.items.entries()) {
        const at = childPath(path, n);
        note(at, item);
        walk(item, at);
      }
  };
  walk(contents, '');
  return lines;
}

/** Lines of the paths of a JSON text that has been read. */
export function jsonPathLines(text: string, value: unknown): PathLines {
  const paths: string[] = [];
  const walk = (node: unknown, path: string): void => {
    if (path !== '') paths.push(path);
    if (Array.isArray(node)) for (const [n, item] of node.entries()) walk(item, childPath(path, n));
    else if (isPlainObject(node))
      for (const [key, inner] of Object.entries(node)) walk(inner, childPath(path, key));
  };
  walk(value, '');
  const found = linesOf(text, paths);
  return new Map(paths.flatMap((path, n): [string, number][] => (found[n] ? [[path, found[n]]] : [])));
}

const LAST_STEP = /(?:\.[^.[\]]*|\[(?:"(?:[^"\\]|\\.)*"|\d+)\]|^[^.[\]]+)$/;

/** The line of a path, or of the nearest above it: a key that is missing stands nowhere. */
export function nearestLine(lines: PathLines, path: string): number | undefined {
  for (let at = path; at !== ''; ) {
    const line = lines.get(at);
    if (line !== undefined) return line;
    const above = at.replace(LAST_STEP, '');
    if (above === at) return undefined;
    at = above;
  }
  return undefined;
}
