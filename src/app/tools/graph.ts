import type { CallableDocument, ResolvedTool } from '../../core/registry/model.js';
import type { Ran } from '../../ports/runner.js';
import type { ToolInput } from '../tools.js';
import { failure, type Output, type ToolAnswer } from './returns.js';

/** A graph to be run. */
export interface GraphCall {
  document: CallableDocument;
  /** By full name. */
  nodes: Readonly<Record<string, ResolvedTool>>;
  input: ToolInput;
  /** Milliseconds for all of it. */
  deadlineMs: number;
}

/** Calls a node's tool within `deadlineMs` and its own timeout. */
export type CallNode = (tool: ResolvedTool, input: ToolInput, deadlineMs: number) => Promise<Ran<ToolAnswer>>;

/** Runs the nodes of a graph, those that do not wait for each other at the same time (DESIGN 4.11). */
export async function runGraph({ document }: GraphCall, _call: CallNode): Promise<Ran<Output>> {
  const outcome = failure('no_runner', `${document.name} was not run: graphs are not run yet`);
  return { outcome, readOnly: 'enforced' };
}
