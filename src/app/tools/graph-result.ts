import { failure } from '../../core/failure.js';
import { nodeIn, pointed } from '../../core/registry/graph-pointer.js';
import { nodesOf } from '../../core/registry/lookup.js';
import { type CallableDocument, type GraphNode, isValidation } from '../../core/registry/model.js';
import type { Verdict } from '../../core/validators/validator.js';
import type { ToolInput } from './input.js';
import { type Output, ofValue } from './returns.js';

/** What became of a node. */
export type NodeEnd =
  /** `verdict`: of a validation, what its output says. */
  | { kind: 'ended'; output: unknown; verdict?: Verdict }
  | { kind: 'errored'; reason: string; message: string; data?: Record<string, unknown> }
  /** Something that it waits for errored or was skipped. */
  | { kind: 'skipped' };

export const SKIPPED: NodeEnd = { kind: 'skipped' };

/** Longest message of one node in the graph's own data, in UTF-16 units. */
const MOST_MESSAGE = 300;
/** Characters of evidence that are kept of a graph that errored, as JSON. */
const MOST_EVIDENCE = 64 * 1024;
/** Nodes that a message tells of. */
const MOST_TOLD = 5;

interface Judged {
  id: string;
  verdict: Verdict;
}

/** What a graph comes to, from how its nodes ended; in the order of its nodes, however they took turns. */
export function graphOutput(
  { document, input }: { document: CallableDocument; input: ToolInput },
  ends: ReadonlyMap<string, NodeEnd>,
): Output {
  const nodes = nodesOf(document);
  const outputs = outputsOf(nodes, ends);
  if (outputs.size < nodes.length) return nodeFailure(nodes, ends, outputs);
  const judged = judgedIn(nodes, ends);
  const output = document.graph?.output;
  if (output === undefined) {
    if (!isValidation(document)) {
      const noData = judged.length === nodes.length && restsOnNothing(judged);
      return ofValue(document, Object.fromEntries(outputs), noData);
    }
    return ofValue(document, allPassed(judged), restsOnNothing(judged));
  }
  if ('value' in output) return ofValue(document, output.value, false);
  const { args, subject, resource, slot } = input;
  const found = pointed({ args, subject, resource, slot, nodes: Object.fromEntries(outputs) }, output.from);
  if (found === undefined) {
    const data = { nodes: cutOutputs(outputs, MOST_EVIDENCE) };
    return failure('output', `there is nothing at ${output.from} that ${document.name} could return`, data);
  }
  const source = nodeIn(output);
  return ofValue(document, found.value, restsOnNothing(judged.filter(({ id }) => id === source)));
}

/** Whether there are verdicts, and all of them are about nothing. */
function restsOnNothing(judged: readonly Judged[]): boolean {
  return judged.length > 0 && judged.every(({ verdict }) => verdict.noData === true);
}

function outputsOf(nodes: readonly GraphNode[], ends: ReadonlyMap<string, NodeEnd>): Map<string, unknown> {
  const outputs = new Map<string, unknown>();
  for (const { id } of nodes) {
    const end = ends.get(id);
    if (end?.kind === 'ended') outputs.set(id, end.output);
  }
  return outputs;
}

function judgedIn(nodes: readonly GraphNode[], ends: ReadonlyMap<string, NodeEnd>): Judged[] {
  return nodes.flatMap(({ id }) => {
    const end = ends.get(id);
    return end?.kind === 'ended' && end.verdict !== undefined ? [{ id, verdict: end.verdict }] : [];
  });
}

/** The structured return of a validation that says nothing else: whether all validations in it passed. */
function allPassed(judged: readonly Judged[]): unknown {
  const failed = judged.filter(({ verdict }) => verdict.outcome !== 'pass');
  const told = failed.slice(0, MOST_TOLD).map(({ id, verdict }) => `${id} failed (${cut(verdict.message)})`);
  if (failed.length > MOST_TOLD) told.push(`and ${failed.length - MOST_TOLD} more`);
  const count = `${judged.length - failed.length} of ${judged.length} validations passed`;
  const nodes = judged.map(({ id, verdict }) => [
    id,
    { passed: verdict.outcome === 'pass', message: cut(verdict.message) },
  ]);
  // Where one failure cannot be fixed, neither can the whole (DESIGN 4.9).
  const isLost = failed.some(({ verdict }) => verdict.data.retryable === false);
  return {
    passed: judged.length > 0 && failed.length === 0,
    message: told.length === 0 ? count : `${count}: ${told.join(', ')}`,
    data: { nodes: Object.fromEntries(nodes), ...(isLost ? { retryable: false } : {}) },
  };
}

/** Some nodes errored: neither pass nor fail, whatever the others say. */
function nodeFailure(
  nodes: readonly GraphNode[],
  ends: ReadonlyMap<string, NodeEnd>,
  outputs: ReadonlyMap<string, unknown>,
): Output {
  const bad = nodes.flatMap((node) => {
    const end = ends.get(node.id);
    return end?.kind === 'errored' ? [{ node, end }] : [];
  });
  const skipped = nodes.filter(({ id }) => ends.get(id)?.kind === 'skipped').map(({ id }) => id);
  const errored = bad.map(({ node: { id, tool }, end: { reason, message } }) => ({
    node: id,
    tool,
    reason,
    message: cut(message),
  }));
  const told = errored
    .slice(0, MOST_TOLD)
    .map(({ node, reason, message }) => `${node} (${reason}: ${message})`);
  if (errored.length > MOST_TOLD) told.push(`and ${errored.length - MOST_TOLD} more`);
  const count = errored.length === 1 ? '1 node errored' : `${errored.length} nodes errored`;
  const rest = skipped.length === 0 ? '' : `; skipped: ${skipped.join(', ')}`;
  const evidence = new Map(
    bad.flatMap(({ node, end }) => (end.data === undefined ? [] : [[node.id, end.data]])),
  );
  const kept = MOST_EVIDENCE - JSON.stringify({ errored, skipped }).length;
  return failure('node', `${count}: ${told.join(', ')}${rest}`, {
    errored,
    skipped,
    nodes: cutOutputs(outputs, kept / 2),
    ...(evidence.size === 0 ? {} : { evidence: cutOutputs(evidence, kept / 2) }),
  });
}

/** Outputs by node; one that is larger than its share stands as the beginning of its JSON. */
function cutOutputs(outputs: ReadonlyMap<string, unknown>, most: number): Record<string, unknown> {
  const share = Math.max(0, Math.floor(most / Math.max(1, outputs.size)));
  return Object.fromEntries(
    [...outputs].map(([id, output]) => {
      const json = JSON.stringify(output) ?? '';
      return [id, json.length <= share ? output : `${json.slice(0, share)}…`];
    }),
  );
}

function cut(message: string): string {
  return message.length <= MOST_MESSAGE ? message : `${message.slice(0, MOST_MESSAGE)}…`;
}
