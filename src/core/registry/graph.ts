import { isPlainObject, type Json } from '../json.js';
import { show } from '../problem.js';
import { childPath } from '../scenario/json-scan.js';
import { own, type Raw, type Report, readFields, reportUnknownKeys } from './fields.js';
import { circlesIn } from './graph-order.js';
import { pointerProblem, unknownNode } from './graph-pointer.js';
import { GRAPH_FIELDS, LONGEST_ID, MOST_NODES, NODE_FIELDS, NODE_ID } from './graph-schema.js';
import { fullName } from './lookup.js';
import type { Graph, GraphNode, GraphValue } from './model.js';

const NODES = 'graph.nodes';

/**
 * The graph of a document; reports all that is wrong with it by itself. What could not be read is left
 * out, so that the rest can still be looked at.
 */
export function readGraph(given: unknown, report: Report): Graph | undefined {
  if (given === undefined) return undefined;
  if (!isPlainObject(given)) {
    const message = 'must be an object, such as {nodes: {lint: {tool: local/lint}}}';
    report({ code: 'WRONG_TYPE', path: 'graph', message, found: show(given) });
    return undefined;
  }
  reportUnknownKeys(given, Object.keys(GRAPH_FIELDS), 'graph', report);
  const raw = rawNodes(own(given, 'nodes'), report);
  const ids = Object.keys(raw);
  const nodes = Object.entries(raw).flatMap(([id, node]) => readNode(id, node, ids, report));
  const output = readValue(own(given, 'output'), 'graph.output', ids, report);
  reportCircles(nodes, report);
  return { nodes, ...(output === undefined ? {} : { output }) };
}

/** The graph as a user would write it. */
export function graphView({ nodes, ...rest }: Graph): Record<string, unknown> {
  const written = nodes.map(({ id, arguments: values, needs, ...node }) => [
    id,
    {
      ...node,
      ...(Object.keys(values).length === 0 ? {} : { arguments: values }),
      ...(needs.length === 0 ? {} : { needs }),
    },
  ]);
  return { nodes: Object.fromEntries(written), ...rest };
}

function rawNodes(given: unknown, report: Report): Raw {
  const path = NODES;
  if (given === undefined) report({ code: 'MISSING_FIELD', path, message: 'is missing' });
  else if (!isPlainObject(given)) {
    const message = 'must be an object of nodes by id, such as {lint: {tool: local/lint}}';
    report({ code: 'WRONG_TYPE', path, message, found: show(given) });
  } else {
    const count = Object.keys(given).length;
    if (count === 0) report({ code: 'BAD_VALUE', path, message: 'must not be empty' });
    if (count > MOST_NODES)
      report({
        code: 'BAD_VALUE',
        path,
        message: `must have at most ${MOST_NODES} nodes`,
        found: `${count}`,
      });
    return given;
  }
  return {};
}

function readNode(id: string, given: unknown, ids: readonly string[], report: Report): GraphNode[] {
  const path = childPath(NODES, id);
  if (!NODE_ID.test(id) || id.length > LONGEST_ID) {
    const message = `the id of a node must be a letter, then letters, digits, "_" and "-", at most ${LONGEST_ID}`;
    report({ code: 'BAD_NAME', path, message, found: show(id) });
  }
  if (!isPlainObject(given)) {
    const message = 'must be an object with a tool, such as {tool: local/lint}';
    report({ code: 'WRONG_TYPE', path, message, found: show(given) });
    return [];
  }
  reportUnknownKeys(given, Object.keys(NODE_FIELDS), path, report);
  const { tool, needs = [] } = readFields(
    { tool: NODE_FIELDS.tool, needs: NODE_FIELDS.needs },
    given,
    path,
    report,
  );
  const values = readArguments(own(given, 'arguments'), `${path}.arguments`, ids, report);
  const subject = readValue(own(given, 'subject'), `${path}.subject`, ids, report);
  const known = (needs as string[]).filter((each, n) => {
    if (ids.includes(each)) return true;
    report(unknownNode(each, ids, childPath(`${path}.needs`, n)));
    return false;
  });
  if (typeof tool !== 'string') return [];
  const rest = subject === undefined ? {} : { subject };
  return [{ id, tool: fullName(tool), arguments: values, ...rest, needs: [...new Set(known)] }];
}

function readArguments(
  given: unknown,
  path: string,
  ids: readonly string[],
  report: Report,
): Record<string, GraphValue> {
  if (given === undefined) return {};
  if (!isPlainObject(given)) {
    const message = 'must be an object, such as {path: {from: /args/path}, limit: {value: 3}}';
    report({ code: 'WRONG_TYPE', path, message, found: show(given) });
    return {};
  }
  const entries = Object.entries(given).flatMap(([name, each]): [string, GraphValue][] => {
    const value = readValue(each, childPath(path, name), ids, report);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

function readValue(
  given: unknown,
  path: string,
  ids: readonly string[],
  report: Report,
): GraphValue | undefined {
  if (given === undefined) return undefined;
  if (isPlainObject(given) && Object.keys(given).length === 1) {
    if (Object.hasOwn(given, 'value')) return { value: given.value as Json };
    const from = own(given, 'from');
    if (typeof from === 'string') {
      const problems = pointerProblem(from, ids, `${path}.from`);
      for (const problem of problems) report(problem);
      return problems.length === 0 ? { from } : undefined;
    }
  }
  const message = `must be {from: JSON pointer} or {value: what it always is}${hint(given)}`;
  report({ code: 'BAD_VALUE', path, message, found: show(given) });
  return undefined;
}

/** How a bare value was likely meant. */
function hint(given: unknown): string {
  if (isPlainObject(given) && ('from' in given || 'value' in given)) return '';
  const field = typeof given === 'string' && given.startsWith('/') ? 'from' : 'value';
  return `; did you mean {${field}: ${show(given)}}?`;
}

function reportCircles(nodes: readonly GraphNode[], report: Report): void {
  for (const circle of circlesIn(nodes)) {
    const path = childPath(NODES, circle[0] as string);
    const found = circle.join(' > ');
    report({ code: 'GRAPH_CYCLE', path, message: 'would wait for itself', found });
  }
}
