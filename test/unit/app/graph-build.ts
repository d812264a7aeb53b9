import { type CallNode, type GraphCall, runGraph } from '../../../src/app/tools/graph.js';
import type { ToolAnswer } from '../../../src/app/tools/returns.js';
import type {
  CallableDocument,
  Graph,
  JsonObject,
  ResolvedTool,
  ToolDocument,
} from '../../../src/core/registry/model.js';

export function tool(name: string, more: Partial<ToolDocument> = {}): ToolDocument {
  return {
    kind: 'tool',
    name: `local/${name}`,
    description: '',
    source: 'code',
    input_schema: { type: 'object' },
    capability: { read_only: true, writes: false, checkpointable: false, network: false },
    lifecycle: {},
    idempotent: true,
    ...more,
  };
}

/** Nodes as a user writes them; each calls the tool of its own name where it names none. */
export type Nodes = Record<string, Partial<Graph['nodes'][number]>>;

export function graphOf(
  nodes: Nodes,
  more: { isTool?: boolean; output?: Graph['output'] } = {},
): CallableDocument {
  const list = Object.entries(nodes).map(([id, node]) => ({
    ...{ id, tool: `local/${id}`, arguments: {}, needs: [] },
    ...node,
  }));
  const graph = { nodes: list, ...(more.output === undefined ? {} : { output: more.output }) };
  const document = tool('graph', { source: 'graph', graph });
  return more.isTool === true ? document : { ...document, kind: 'validation', mode: 'required', confirm: 0 };
}

/** A tool for each that the nodes name, which takes any arguments. */
export function toolsOf(document: CallableDocument): Record<string, ResolvedTool> {
  const names = (document.graph?.nodes ?? []).map((node) => node.tool);
  return Object.fromEntries(names.map((name) => [name, { chain: [tool(name.replace('local/', ''))] }]));
}

export const value = (given: unknown): ToolAnswer => ({ kind: 'value', value: given });
export const pass = (data: JsonObject = {}, message = 'fine'): ToolAnswer => ({
  kind: 'verdict',
  verdict: { outcome: 'pass', message, data },
});
export const fail = (data: JsonObject = {}, message = 'bad'): ToolAnswer => ({
  kind: 'verdict',
  verdict: { outcome: 'fail', message, data },
});
export const broken = (reason = 'exit', message = 'boo'): ToolAnswer => ({
  kind: 'failure',
  reason,
  message,
});

/** Runs a graph whose tools answer at once; says what each was called with, in that order. */
export async function run(
  document: CallableDocument,
  answers: Record<string, ToolAnswer>,
  more: Partial<GraphCall> = {},
) {
  const calls: [string, Parameters<CallNode>[1]][] = [];
  const input = { args: {}, subject: null, resource: null, slot: null };
  const call = { document, nodes: toolsOf(document), input, deadlineMs: 60_000, ...more };
  const ran = await runGraph(call, async ({ chain }, given) => {
    const name = chain[0]?.name.replace('local/', '') ?? '';
    calls.push([name, given]);
    return { outcome: answers[name] ?? value(null), readOnly: 'enforced' };
  });
  return { ...ran, calls, called: calls.map(([name]) => name) };
}
