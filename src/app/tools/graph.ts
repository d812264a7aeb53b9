import { failure } from '../../core/failure.js';
import { Lanes } from '../../core/lanes.js';
import { formatProblem } from '../../core/problem.js';
import { inputSchemaOf } from '../../core/registry/closure.js';
import { orderOf } from '../../core/registry/graph-order.js';
import { pointed, waitsFor } from '../../core/registry/graph-pointer.js';
import { schemaProblems } from '../../core/registry/json-schema.js';
import { nodesOf } from '../../core/registry/lookup.js';
import type { CallableDocument, GraphNode, JsonObject, ResolvedTool } from '../../core/registry/model.js';
import type { ReadOnly } from '../../core/result.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Ran } from '../../ports/runner.js';
import { graphOutput, type NodeEnd, SKIPPED } from './graph-result.js';
import type { ToolInput } from './input.js';
import { type Output, outputOf, type ToolAnswer } from './returns.js';

/** Most nodes that run at a time, those of graphs in a graph included. */
const AT_A_TIME = 8;

/** Problems that a message tells of. */
const MOST_TOLD = 5;

/** A graph to be run. */
export interface GraphCall {
  document: CallableDocument;
  /** By full name. */
  nodes: Readonly<Record<string, ResolvedTool>>;
  input: ToolInput;
  /** Milliseconds for all of it. */
  deadlineMs: number;
  /** Those of the graph around; absent: it is the outermost. */
  lanes?: Lanes;
}

/** Calls a node's tool within `deadlineMs` and its own timeout; `lanes` are for a graph's own nodes. */
export type CallNode = (
  tool: ResolvedTool,
  input: ToolInput,
  deadlineMs: number,
  lanes: Lanes,
) => Promise<Ran<ToolAnswer>>;

/**
 * Runs the nodes of a graph, each as soon as all that it waits for has ended, eight at a time (DESIGN
 * 4.11; ADR 0014). An errored node skips those that wait for it, and the graph is then a failure that
 * names them. Throws what `callNode` throws, once nothing runs any more.
 */
export async function runGraph(call: GraphCall, callNode: CallNode): Promise<Ran<Output>> {
  const nodes = nodesOf(call.document);
  const { order } = orderOf(nodes);
  if (nodes.length === 0 || order.length < nodes.length) {
    const message = `${call.document.name} cannot be run: ${nodes.length === 0 ? 'it has no nodes' : 'its nodes wait for each other'}`;
    return { outcome: failure('internal', message), readOnly: 'enforced' };
  }
  const run = new GraphRun(call, callNode);
  const ends = await run.all(order);
  return { outcome: graphOutput(call, ends), readOnly: run.readOnly };
}

class GraphRun {
  readOnly: ReadOnly = 'enforced';
  readonly #call: GraphCall;
  readonly #callNode: CallNode;
  readonly #lanes: Lanes;
  readonly #started = performance.now();
  readonly #outputs: Record<string, unknown> = {};
  #isStopped = false;

  constructor(call: GraphCall, callNode: CallNode) {
    this.#call = call;
    this.#callNode = callNode;
    this.#lanes = call.lanes ?? new Lanes(AT_A_TIME);
  }

  /** How each node ended, by id; `order` has each behind all that it waits for. */
  async all(order: readonly GraphNode[]): Promise<Map<string, NodeEnd>> {
    const ends = new Map<string, Promise<NodeEnd>>();
    for (const node of order) {
      const before = waitsFor(node).map((id) => ends.get(id));
      ends.set(node.id, this.#end(node, before));
    }
    const settled = await Promise.allSettled(ends.values());
    const thrown = settled.find((each) => each.status === 'rejected');
    if (thrown !== undefined) throw thrown.reason;
    return new Map(await Promise.all([...ends].map(async ([id, end]) => [id, await end] as const)));
  }

  async #end(node: GraphNode, before: (Promise<NodeEnd> | undefined)[]): Promise<NodeEnd> {
    const ended = await Promise.all(before);
    if (ended.some((each) => each?.kind !== 'ended')) return SKIPPED;
    const tool = Object.hasOwn(this.#call.nodes, node.tool) ? this.#call.nodes[node.tool] : undefined;
    if (tool === undefined) return errored(failure('internal', `${node.tool} did not come with the graph`));
    // A graph takes no lane of its own, or it could wait for itself.
    const end =
      tool.nodes === undefined
        ? await this.#lanes.run(() => this.#called(node, tool))
        : await this.#called(node, tool);
    if (end.kind === 'ended') this.#outputs[node.id] = end.output;
    return end;
  }

  async #called(node: GraphNode, tool: ResolvedTool): Promise<NodeEnd> {
    if (this.#isStopped) throw new Error('stopped');
    const left = this.#call.deadlineMs - (performance.now() - this.#started);
    if (!(left > 0)) return errored(failure('deadline', `${node.tool} was not run: no time was left for it`));
    const input = this.#inputOf(node, tool);
    if ('kind' in input) return errored(input);
    try {
      const { outcome, readOnly } = await this.#callNode(tool, input, left, this.#lanes);
      if (readOnly === 'declared') this.readOnly = readOnly;
      return endOf(outcome);
    } catch (error) {
      // The worker is to stop, or Sluice itself is at fault: what would follow is not worth starting.
      this.#isStopped = true;
      throw error;
    }
  }

  /** What the node's pointers find; or why it cannot be called. */
  #inputOf({ tool: name, ...node }: GraphNode, tool: ResolvedTool): ToolInput | RunFailure {
    const { args, subject, resource, slot } = this.#call.input;
    const known = { args, subject, resource, slot, nodes: this.#outputs };
    const given: [string, unknown][] = [];
    const empty: string[] = [];
    for (const [argument, value] of Object.entries(node.arguments)) {
      const found = 'value' in value ? value : pointed(known, value.from);
      if (found !== undefined) given.push([argument, found.value]);
      else if ('from' in value) empty.push(value.from);
    }
    const own = Object.fromEntries(given) as JsonObject;
    const problems = schemaProblems(inputSchemaOf(tool), own, '');
    if (problems.length > 0) {
      const shown = problems.slice(0, MOST_TOLD).map(formatProblem).join('; ');
      const nothing =
        empty.length === 0 ? '' : `; nothing was found at ${empty.slice(0, MOST_TOLD).join(', ')}`;
      return failure('arguments', `the arguments do not fit ${name}: ${shown}${nothing}`);
    }
    if (node.subject === undefined) return { args: own, subject, resource, slot };
    const judged = 'value' in node.subject ? node.subject : pointed(known, node.subject.from);
    if (judged !== undefined) return { args: own, subject: judged.value, resource, slot };
    const from = 'from' in node.subject ? node.subject.from : '';
    return failure('subject', `there is nothing at ${from} that ${name} could judge`);
  }
}

const errored = ({ reason, message, data }: RunFailure): NodeEnd => ({
  kind: 'errored',
  reason,
  message,
  ...(data === undefined ? {} : { data }),
});

function endOf(answer: ToolAnswer): NodeEnd {
  if (answer.kind === 'failure') return errored(answer);
  if (answer.kind === 'value') return { kind: 'ended', output: answer.value };
  const { outcome, message, data } = answer.verdict;
  if (outcome !== 'error') return { kind: 'ended', output: outputOf(answer), verdict: answer.verdict };
  const reason = typeof data.reason === 'string' ? data.reason : 'malformed';
  return errored(failure(reason, message, data));
}
