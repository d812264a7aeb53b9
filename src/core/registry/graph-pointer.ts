import { isPlainObject } from '../json.js';
import { show } from '../problem.js';
import type { CodedProblem } from './codes.js';
import { nearestOf } from './fields.js';
import type { GraphNode, GraphValue } from './model.js';

/** What pointers of a graph lead into. */
const ROOTS = ['args', 'subject', 'resource', 'slot', 'nodes'];

/** The steps of a JSON pointer (RFC 6901); undefined for what is none. */
export function stepsOf(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  const steps = pointer.slice(1).split('/');
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** What stands at a pointer; undefined where there is nothing. Only what a value holds itself is found. */
export function pointed(root: unknown, pointer: string): { value: unknown } | undefined {
  const steps = stepsOf(pointer);
  if (steps === undefined) return undefined;
  let value = root;
  for (const step of steps) {
    if (Array.isArray(value)) {
      if (!/^(?:0|[1-9]\d*)$/.test(step) || Number(step) >= value.length) return undefined;
      value = value[Number(step)];
    } else if (isPlainObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value === undefined ? undefined : { value };
}

/** The node that a value is taken from; undefined for all else. */
export function nodeIn(value: GraphValue | undefined): string | undefined {
  if (value === undefined || 'value' in value) return undefined;
  const [root, id] = stepsOf(value.from) ?? [];
  return root === 'nodes' ? id : undefined;
}

/** Nodes that end before this one begins, each once: those it needs, and those it takes values from. */
export function waitsFor({ arguments: values, subject, needs }: GraphNode): string[] {
  const taken = [...Object.values(values), subject].flatMap((value) => nodeIn(value) ?? []);
  return [...new Set([...needs, ...taken])];
}

/** What is wrong with a pointer by itself; `ids` are the nodes of its graph. */
export function pointerProblem(pointer: string, ids: readonly string[], path: string): CodedProblem[] {
  const found = show(pointer);
  const bad = (message: string, more: Partial<CodedProblem> = {}): CodedProblem[] => [
    { code: 'BAD_POINTER', path, message, found, ...more },
  ];
  if (!pointer.startsWith('/'))
    return bad('must be a JSON pointer, such as /args/path or /nodes/lint/passed');
  const steps = stepsOf(pointer);
  if (steps === undefined)
    return bad('is no JSON pointer: "~" stands only in "~0", which means "~", and "~1", which means "/"');
  const [root = '', id] = steps;
  if (!ROOTS.includes(root)) {
    const allowed = ROOTS.map((each) => `/${each}`);
    const nearest = nearestOf(root, ROOTS).nearest;
    return bad('leads into nothing that a graph knows', {
      allowed,
      ...(nearest === undefined ? {} : { nearest: `/${nearest}` }),
    });
  }
  if (root !== 'nodes') return [];
  if (id === undefined) return bad('must name a node, as in /nodes/lint', { allowed: [...ids] });
  return ids.includes(id) ? [] : [unknownNode(id, ids, path)];
}

/** There is no node of this id. */
export function unknownNode(id: string, ids: readonly string[], path: string): CodedProblem {
  return {
    code: 'UNKNOWN_NODE',
    path,
    message: 'names no node of this graph',
    found: show(id),
    allowed: [...ids],
    ...nearestOf(id, ids),
  };
}
