import { childPath } from '../scenario/json-scan.js';
import { argumentNames, takesArgument } from './argument-names.js';
import { chainOf, inputSchemaIfAny } from './closure.js';
import type { CodedProblem } from './codes.js';
import { nearestOf } from './fields.js';
import { extentProblems } from './graph-extent.js';
import { circleOf } from './graph-order.js';
import { stepsOf } from './graph-pointer.js';
import { schemaProblems } from './json-schema.js';
import { callableIn, callableNames, type Entries, nodesOf, usedBy } from './lookup.js';
import {
  type CallableDocument,
  type Graph,
  type GraphNode,
  type GraphValue,
  isValidation,
  type JsonObject,
} from './model.js';
import { valueProblems } from './wrapping.js';

type WithGraph = CallableDocument & { graph: Graph };

/** What a validation gives to other nodes. */
const PARTS = ['passed', 'message', 'data'];

const pathOf = ({ id }: GraphNode): string => childPath('graph.nodes', id);

export function hasGraph(document: CallableDocument): document is WithGraph {
  return nodesOf(document).length > 0;
}

/**
 * Everything that keeps a graph from calling what its nodes name (DESIGN 4.11), with the registry as it
 * would be. `broken` are names of documents that were refused for themselves: what follows from them is
 * not told once more.
 */
export function graphProblems(
  entries: Entries,
  document: WithGraph,
  broken: ReadonlySet<string>,
): CodedProblem[] {
  const { graph } = document;
  const circle = circleOf(document.name, (name) => {
    const called = callableIn(entries, name);
    return called === undefined ? [] : usedBy(called);
  });
  if (circle !== undefined) {
    const path = 'graph.nodes';
    return [{ code: 'GRAPH_CYCLE', path, message: 'would contain itself', found: circle.join(' > ') }];
  }
  const problems = graph.nodes.flatMap((node): CodedProblem[] => [
    ...nodeNames(entries, document.name, node, broken),
    ...writingProblems(entries, document, node),
    ...argumentProblems(entries, node, broken),
  ]);
  const values = [...graph.nodes.flatMap(valuesOf), ...outputOf(graph)];
  const pointers = values.flatMap(([path, value]) =>
    'from' in value ? pointerProblems(entries, document, value.from, `${path}.from`) : [],
  );
  return [...problems, ...pointers, ...undecided(entries, document), ...extentProblems(entries, document)];
}

/** Of a graph that is refused already, and may lack parts: the names that it gets wrong. */
export function graphNameProblems(
  entries: Entries,
  name: string | undefined,
  { nodes }: Graph,
  broken: ReadonlySet<string>,
): CodedProblem[] {
  return nodes.flatMap((node) => nodeNames(entries, name, node, broken));
}

function nodeNames(
  entries: Entries,
  self: string | undefined,
  node: GraphNode,
  broken: ReadonlySet<string>,
): CodedProblem[] {
  const { tool } = node;
  if (broken.has(tool)) return [];
  if (callableIn(entries, tool) === undefined) {
    const message = entries.has(tool)
      ? 'is a skill; nodes are tools and validations'
      : 'is no registered tool or validation';
    const others = callableNames({ entries }).filter((each) => each !== self);
    const nearest = nearestOf(tool, others);
    return [{ code: 'UNKNOWN_TOOL', path: `${pathOf(node)}.tool`, message, found: tool, ...nearest }];
  }
  const schema = schemaOf(entries, tool);
  if (schema === undefined) return [];
  const unknown = Object.keys(node.arguments).filter((name) => !takesArgument(schema, name));
  return unknown.map((name) =>
    unknownArgument(schema, name, tool, childPath(`${pathOf(node)}.arguments`, name)),
  );
}

/** Undefined where something on the way is wrong, which is told of that. */
function schemaOf(entries: Entries, name: string): JsonObject | undefined {
  const followed = chainOf(entries, name);
  return followed.ok ? inputSchemaIfAny(followed) : undefined;
}

function unknownArgument(schema: JsonObject, name: string, tool: string, path: string): CodedProblem {
  const known = argumentNames(schema) ?? [];
  const code = 'ARGUMENT_UNKNOWN';
  if (known.length === 0) return { code, path, message: `${tool} takes no arguments`, found: name };
  return {
    code,
    path,
    message: `is no argument of ${tool}`,
    found: name,
    allowed: known,
    ...nearestOf(name, known),
  };
}

/** ADR, Constraints: what is read-only calls nothing that is not known to be. */
function writingProblems(entries: Entries, { kind, capability }: WithGraph, node: GraphNode): CodedProblem[] {
  const called = callableIn(entries, node.tool);
  if (called === undefined) return [];
  const { read_only, writes } = called.capability;
  if ((read_only || !capability.read_only) && (!writes || capability.writes)) return [];
  const why = writes ? 'writes or does not say that it does not' : 'is not read-only';
  const way = `if it does not write, register it with read_only: true`;
  const other = kind === 'validation' ? '' : ', else this graph with writes: true';
  const message = `${why}, and this graph is read-only; ${way}${other}`;
  return [{ code: 'GRAPH_WRITING', path: `${pathOf(node)}.tool`, message, found: node.tool }];
}

/** What is missing, and fixed values that do not fit. */
function argumentProblems(entries: Entries, node: GraphNode, broken: ReadonlySet<string>): CodedProblem[] {
  const schema = broken.has(node.tool) ? undefined : schemaOf(entries, node.tool);
  if (schema === undefined) return [];
  const path = `${pathOf(node)}.arguments`;
  const given = Object.entries(node.arguments);
  const missing = ((schema.required ?? []) as string[]).filter(
    (name) => !Object.hasOwn(node.arguments, name),
  );
  const problems = missing.map((name): CodedProblem => {
    const message = `is missing; ${node.tool} requires it`;
    return { code: 'ARGUMENT_MISSING', path: childPath(path, name), message };
  });
  for (const [name, each] of given)
    if ('value' in each)
      problems.push(...valueProblems(schema, name, each.value, `${childPath(path, name)}.value`));
  const isFixed = given.every(([, each]) => 'value' in each);
  const isNamed = given.every(([name]) => takesArgument(schema, name));
  if (problems.length === 0 && isFixed && isNamed) {
    const values = given.flatMap(([name, each]) => ('value' in each ? [[name, each.value]] : []));
    problems.push(...schemaProblems(schema, Object.fromEntries(values), path));
  }
  return problems.map((each) =>
    each.code === 'ARGUMENT_MISSING' ? each : { ...each, code: 'ARGUMENT_VALUE' },
  );
}

function valuesOf(node: GraphNode): [path: string, value: GraphValue][] {
  const path = pathOf(node);
  const named = Object.entries(node.arguments).map(([name, value]): [string, GraphValue] => [
    childPath(`${path}.arguments`, name),
    value,
  ]);
  return node.subject === undefined ? named : [...named, [`${path}.subject`, node.subject]];
}

function outputOf({ output }: Graph): [string, GraphValue][] {
  return output === undefined ? [] : [['graph.output', output]];
}

/** Pointers that can never find anything. */
function pointerProblems(entries: Entries, document: WithGraph, from: string, path: string): CodedProblem[] {
  const [root, first, part] = stepsOf(from) ?? [];
  if (root === 'args' && first !== undefined) {
    const schema = schemaOf(entries, document.name);
    if (schema === undefined || takesArgument(schema, first)) return [];
    return [unknownArgument(schema, first, 'this graph', path)];
  }
  if (root !== 'nodes' || part === undefined || PARTS.includes(part)) return [];
  const node = document.graph.nodes.find(({ id }) => id === first);
  const called = node && callableIn(entries, node.tool);
  if (called === undefined || !isValidation(called)) return [];
  const message = `finds nothing: the output of the validation ${called.name} has passed, message and data`;
  const allowed = PARTS.map((each) => `/nodes/${first}/${each}`);
  return [{ code: 'BAD_POINTER', path, message, found: from, allowed }];
}

/** The output says whether a validation passes; without one, the validations among its nodes do. */
function undecided(entries: Entries, document: WithGraph): CodedProblem[] {
  const { nodes, output } = document.graph;
  if (!isValidation(document)) return [];
  if (output !== undefined) {
    if ('from' in output) return [];
    const message = 'is fixed, so the validation would judge nothing; take it from a node';
    return [{ code: 'GRAPH_UNDECIDED', path: 'graph.output', message }];
  }
  const called = nodes.map(({ tool }) => callableIn(entries, tool));
  if (called.some((each) => each === undefined || isValidation(each))) return [];
  const message =
    'is missing: no node is a validation, so nothing says whether this validation passes; point it at a node that returns {passed, message, data}';
  return [{ code: 'GRAPH_UNDECIDED', path: 'graph.output', message }];
}
